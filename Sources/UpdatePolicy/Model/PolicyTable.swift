/// A table of the policy that people edit; a table stands behind the one that its rows belong to.
package enum PolicyTable: String, Sendable, CaseIterable {
    case apps
    case storeLinks = "store_links"
    case feedTemplates = "feed_templates"
    case releases
    case releaseNotes = "release_notes"
    case rules
    case ruleTexts = "rule_texts"
    case rolloutSteps = "rollout_steps"

    /// The columns that people edit, in the order in which they are read and written.
    package var columns: [ColumnDefinition] { Self.columnsOfTables[self] ?? [] }

    /// The columns that identify a row. They are unique, except in releases, which have a generated id.
    package var identity: [ColumnDefinition] { columns.filter { $0.role == .identity } }

    /// The column with an id that the database generates; nil for a table without one.
    package var idColumn: String? { self == .releases ? "id" : nil }

    /// The index of a column among ``columns``.
    ///
    /// - Precondition: The table has a column of this name.
    func index(of column: String) -> Int {
        guard let index = columns.firstIndex(where: { $0.name == column }) else {
            preconditionFailure("table \(rawValue) has no column \(column)")
        }
        return index
    }

    private static let columnsOfTables = Dictionary(
        uniqueKeysWithValues: [
            columns(of: App.self), columns(of: StoreLink.self), columns(of: FeedTemplate.self),
            columns(of: Release.self),
            columns(of: ReleaseNote.self), columns(of: Rule.self), columns(of: RuleText.self),
            columns(of: RolloutStep.self),
        ]
    )

    private static func columns<Record: PolicyRecord>(of _: Record.Type) -> (PolicyTable, [ColumnDefinition]) {
        (Record.table, (Record.owner.map { [$0] } ?? []) + Record.columns.map(\.definition))
    }
}
