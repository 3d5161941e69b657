/// A table of the policy that people edit; a table stands behind the one that its rows belong to.
package enum PolicyTable: String, Sendable, CaseIterable {
    /// The apps, by bundle.
    case apps
    /// The links to apps in stores, by platform.
    case storeLinks = "store_links"
    /// Documents of an app's own, by name.
    case feedTemplates = "feed_templates"
    /// The versions that users can get.
    case releases
    /// What is new in a release, by language.
    case releaseNotes = "release_notes"
    /// The rules, by key.
    case rules
    /// The texts of rules in other languages.
    case ruleTexts = "rule_texts"
    /// The planned percentages of a rule.
    case rolloutSteps = "rollout_steps"

    /// The columns that people edit, in the order in which they are read and written.
    package var columns: [ColumnDefinition] {
        switch self {
        case .apps: Self.columnsOfApps
        case .storeLinks: Self.columnsOfStoreLinks
        case .feedTemplates: Self.columnsOfFeedTemplates
        case .releases: Self.columnsOfReleases
        case .releaseNotes: Self.columnsOfReleaseNotes
        case .rules: Self.columnsOfRules
        case .ruleTexts: Self.columnsOfRuleTexts
        case .rolloutSteps: Self.columnsOfRolloutSteps
        }
    }

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

    private static let columnsOfApps = columns(of: App.self)
    private static let columnsOfStoreLinks = columns(of: StoreLink.self)
    private static let columnsOfFeedTemplates = columns(of: FeedTemplate.self)
    private static let columnsOfReleases = columns(of: Release.self)
    private static let columnsOfReleaseNotes = columns(of: ReleaseNote.self)
    private static let columnsOfRules = columns(of: Rule.self)
    private static let columnsOfRuleTexts = columns(of: RuleText.self)
    private static let columnsOfRolloutSteps = columns(of: RolloutStep.self)

    private static func columns<Record: PolicyRecord>(of _: Record.Type) -> [ColumnDefinition] {
        (Record.owner.map { [$0] } ?? []) + Record.columns.map(\.definition)
    }
}
