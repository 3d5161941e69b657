package import PolicyStore
package import UpdatePolicy

extension Report {
    package static func apps(_ apps: [AppSummary], at now: Timestamp) -> Report {
        let columns: [Column<AppSummary>] = [
            Column("Bundle", isName: true) { .link($0.app.bundle, .app($0.app.bundle)) },
            Column("Name") { .text($0.app.name) },
            Column("State") { $0.app.paused ? .tag("paused", .part) : .tag("active", .good) },
        ]
        let others: [Column<AppSummary>] = [
            Column("Store links", json: "store_links") { app in
                let links = app.app.storeLinks
                return .sentence(
                    Sentence(links.map(\.platform).joined(separator: ", ")), json: links.map { $0.json() }
                )
            },
            .data("feeds") { $0.feeds }, .data("releases") { $0.releases },
            Column("Rules", json: "rules") { .count($0.rules) },
        ]
        return Report(
            at: now,
            Table(
                ifEmpty: "No apps. To add one: \(command: "app add BUNDLE --name NAME --store-link ios=https://...")",
                apps, columns: columns + Column.columns(of: \.app) + others
            )
        )
    }

    package static func app(_ app: AppSummary, at now: Timestamp) -> Report {
        let links = app.app.storeLinks
        return Report(
            at: now,
            [
                .fields(
                    app.app.fields + [
                        Field(
                            "store_links", json: "store_links",
                            .lines(links.map { "\($0.platform)  \($0.link)" }, json: links.map { $0.json() })
                        ),
                        Field(
                            "feeds", json: "feeds",
                            .lines(app.app.feedTemplates.map { "\($0.name)  \($0.contentType)" }, json: app.feeds)
                        ),
                        Field("releases", json: "releases", .count(app.releases)),
                        Field("rules", json: "rules", .count(app.rules)),
                    ]
                )
            ]
        )
    }
}

extension AppSummary {
    fileprivate var feeds: [JSONValue] { app.feedTemplates.map { $0.json(["name", "content_type"]) } }
}
