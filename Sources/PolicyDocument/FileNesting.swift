import UpdatePolicy

/// How the rows of a table stand in a policy file, and those of other tables in them: it is read and written by this.
struct FileNesting: Sendable {
    enum Form {
        /// A map from a column that identifies a row to its only other one.
        case pairs
        /// A map from a column that identifies a row to a map of the others.
        case map
        /// A list of maps.
        case list
    }

    let table: PolicyTable
    let key: String
    let form: Form
    /// The column that follows from the row that the rows stand in.
    var ownerColumn: String?
    /// The column of that row in whose place they are written.
    var place: String?
    /// What stands behind the key, for hints.
    let example: String
    var children: [FileNesting] = []
    /// What is said of a second row with the same identity.
    var repeated: (@Sendable (FileRow) -> (message: String, hint: String))?
    /// The name of a row in messages, by that of its owner and by its key.
    let name: @Sendable (_ owner: String, _ key: String) -> String

    /// The column that is the key of the map.
    var keyColumn: ColumnDefinition? {
        form == .list ? nil : table.identity.first { $0.name != ownerColumn }
    }

    /// The columns that stand in a row.
    var columns: [ColumnDefinition] {
        let keyColumn = keyColumn
        return table.columns.filter { $0.name != ownerColumn && $0 != keyColumn }
    }

    static let roots = [
        FileNesting(
            table: .apps, key: "apps", form: .map, example: "bundles, each with what there is to say",
            children: [storeLinks, feeds, releases]
        ) { "app \($1)" },
        FileNesting(
            table: .rules, key: "rules", form: .map, example: "keys, each with what the rule says",
            children: [steps, texts]
        ) { "rule \($1)" },
    ]

    private static let storeLinks = FileNesting(
        table: .storeLinks, key: "store_links", form: .pairs, ownerColumn: "bundle",
        example: "platforms, each with a link",
        repeated: { link in
            (
                "there is already a store link for \(link.text("platform"))",
                "Case is ignored, and ipados, iphone os and iphoneos are ios; leave one of the two out."
            )
        }
    ) { "\($0): store_links: \($1)" }

    private static let feeds = FileNesting(
        table: .feedTemplates, key: "feeds", form: .map, ownerColumn: "bundle",
        example: "names, each with content_type and body"
    ) { "\($0): the feed \($1)" }

    private static let releases = FileNesting(
        table: .releases, key: "releases", form: .list, ownerColumn: "bundle", example: "- version: \"1.2\"",
        children: [notes]
    ) { owner, _ in "a release of \(owner)" }

    private static let notes = FileNesting(
        table: .releaseNotes, key: "notes", form: .pairs, ownerColumn: "release",
        example: "languages, each with the text",
        repeated: { ("second notes in \($0.text("language"))", secondLanguage) }
    ) { "\($0): notes: \($1)" }

    private static let steps = FileNesting(
        table: .rolloutSteps, key: "steps", form: .list, ownerColumn: "rule", place: "rollout",
        example: "- at: 2026-03-01T12:00:00Z",
        repeated: { _ in
            ("a second step at the same time", "One percentage holds from a time on; leave one of the two out.")
        }
    ) { owner, _ in "a step of \(owner)" }

    private static let texts = FileNesting(
        table: .ruleTexts, key: "texts", form: .map, ownerColumn: "rule",
        example: "languages, each with title and text",
        repeated: { ("a second text in \($0.text("language"))", secondLanguage) }
    ) { "\($0): the text in \($1)" }

    private static let secondLanguage =
        "Case is ignored in languages, and old codes are read as today's; leave one of the two out."
}

/// A row of any table as it stands in a policy file, with the rows that stand in it.
struct FileRow {
    /// Those that the file has, or that are to be written, by the names of their columns.
    var values: [String: PolicyValue] = [:]
    var positions = PolicyDocument.Positions(row: .start)
    var children: [PolicyTable: [FileRow]] = [:]

    init(at position: FilePosition) {
        positions = PolicyDocument.Positions(row: position)
    }

    /// The row of a record: the columns that differ from their defaults.
    init<Record: PolicyRecord>(_ record: Record, _ children: [PolicyTable: [FileRow]] = [:]) {
        self.children = children
        for column in Record.columns {
            let value = column.value(of: record)
            if value != column.defaultValue { values[column.name] = value }
        }
    }

    func record<Record: PolicyRecord>() -> Record {
        var record = Record.blank
        for column in Record.columns {
            if let value = values[column.name] { column.set(value, in: &record) }
        }
        return record
    }

    func nested<Record: PolicyRecord>() -> [Record] {
        (children[Record.table] ?? []).map { $0.record() }
    }

    func text(_ column: String) -> String { values[column]?.text ?? "" }

    /// What identifies it among the rows that stand beside it.
    func identity(in table: PolicyTable) -> [PolicyValue] {
        table.identity.compactMap { values[$0.name]?.identity(as: $0.type) }
    }
}

extension Policy {
    /// The policy of the rows of a file; of no revision.
    init(_ rows: [PolicyTable: [FileRow]]) {
        self.init(revision: 0, token: "")
        for row in rows[.apps] ?? [] {
            var app: App = row.record()
            app.storeLinks = row.nested()
            app.feedTemplates = row.nested()
            apps.append(app)
            for row in row.children[.releases] ?? [] {
                var release: Release = row.record()
                release.bundle = app.bundle
                release.notes = row.nested()
                releases.append(release)
            }
        }
        for row in rows[.rules] ?? [] {
            var rule: Rule = row.record()
            rule.steps = row.nested()
            rule.texts = row.nested()
            if !rule.steps.isEmpty { rule.rollout = .zero }
            rules.append(rule)
        }
    }

    /// The rows of a file that holds the policy.
    var fileRows: [PolicyTable: [FileRow]] {
        let releases = Dictionary(grouping: releases) { UTF8Text($0.bundle) }
        return [
            .apps: apps.map { app in
                FileRow(
                    app,
                    [
                        .storeLinks: app.storeLinks.map { FileRow($0) },
                        .feedTemplates: app.feedTemplates.map { FileRow($0) },
                        .releases: (releases[UTF8Text(app.bundle)] ?? []).map { release in
                            FileRow(release, [.releaseNotes: release.notes.map { FileRow($0) }])
                        },
                    ]
                )
            },
            .rules: rules.map { rule in
                FileRow(
                    rule,
                    [.rolloutSteps: rule.steps.map { FileRow($0) }, .ruleTexts: rule.texts.map { FileRow($0) }]
                )
            },
        ]
    }
}
