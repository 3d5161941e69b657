package import PolicyStore
package import UpdatePolicy

extension Report {
    package static func releases(_ releases: [Release], at now: Timestamp) -> Report {
        let columns: [Column<Release>] = [
            Column("App", isName: true) { .link($0.bundle, .app($0.bundle)) },
            Column("Platform", isName: true) { .text($0.platform) },
            Column("Version", isName: true) { .text($0.version) },
            Column("Build") { .text($0.build) },
            Column("Min OS") { .text($0.minOS) },
            Column("Regions", silent: "everywhere") { .text($0.regions?.joined(separator: ", ") ?? "everywhere") },
            Column("State") { .sentence($0.stateInWords(at: now)) },
            Column("Notes") { .text($0.notes.map(\.language).joined(separator: ", ")) },
            .data("id") { $0.id },
        ]
        let notes: Column<Release> = Column(nil, json: "notes") { .data($0.notes.map { $0.json() }) }
        return Report(
            at: now,
            Table(
                ifEmpty: "No releases. To add one: \(command: "release add BUNDLE VERSION --platform PLATFORM")",
                releases, columns: columns + Column.columns { $0 } + [notes]
            )
        )
    }
}

extension Release {
    /// Whether users can get it: `live since 2026-01-01T01:00:00+01:00`.
    package func stateInWords(
        at now: Timestamp,
        _ moment: (Timestamp) -> Sentence = { "\(time: $0)" }
    ) -> Sentence {
        switch state(at: now) {
        case .live(let time): "live since \(moment(time))"
        case .comes(let time): "live from \(moment(time))"
        case .staged: "staged"
        case .noDate: "no date"
        case .withdrawn(let time): "withdrawn \(moment(time))"
        }
    }
}
