// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

extension PolicyTable {
    /// The columns that people edit, in the order in which they are read and written.
    public var columns: [PolicyColumn] {
        switch self {
        case .apps: Self.columnsOfApps
        case .storeLinks: Self.columnsOfStoreLinks
        case .releases: Self.columnsOfReleases
        case .rules: Self.columnsOfRules
        case .ruleTexts: Self.columnsOfRuleTexts
        case .rolloutSteps: Self.columnsOfRolloutSteps
        }
    }

    /// Columns that the database fills with a number of the row, and nobody edits.
    var numberColumns: [String] { self == .releases ? ["id"] : [] }

    /// The place of a column among ``columns``.
    ///
    /// - Precondition: The table has a column of this name.
    func place(of column: String) -> Int {
        guard let place = columns.firstIndex(where: { $0.name == column }) else {
            preconditionFailure("table \(rawValue) has no column \(column)")
        }
        return place
    }

    private static let columnsOfApps: [PolicyColumn] = [
        .required("bundle"), .optional("name"), .flag("paused"), .optional("note"),
    ]

    private static let columnsOfStoreLinks: [PolicyColumn] = [
        .required("bundle"), .required("platform"), .required("link"),
    ]

    private static let columnsOfReleases: [PolicyColumn] = [
        .required("bundle"), .required("version", .version), .required("platform"), .optional("build", .version),
        .optional("min_os", .version), .optional("regions", .texts), .optional("live_at", .time), .flag("staged"),
        .optional("withdrawn_at", .time), .optional("note"),
    ]

    private static let columnsOfRules: [PolicyColumn] = [
        .required("key"), .optional("bundle"), .flag("enabled"), .position, .optional("versions", .version),
        .optional("builds", .version), .optional("os", .version), .optional("platforms", .texts),
        .optional("regions", .texts), .optional("languages", .texts), .optional("attributes", .attributes),
        .optional("target", .version), .optional("soak", .duration), .rollout, .optional("starts_at", .time),
        .optional("ends_at", .time), .required("title"), .required("text"), .optional("link"), .flag("lockout"),
        .flag("lockout_without_update"), .flag("final"), .optional("note"),
    ]

    private static let columnsOfRuleTexts: [PolicyColumn] = [
        .required("rule"), .required("language"), .required("title"), .required("text"),
    ]

    private static let columnsOfRolloutSteps: [PolicyColumn] = [
        .required("rule"), .required("at", .time), .required("rollout", .percentage),
    ]
}
