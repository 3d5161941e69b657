/// A record of any table as the values of its columns, so that rows of all tables are compared and written the same way.
package struct PolicyRow: Sendable, Hashable {
    package let table: PolicyTable
    /// The id of a release; nil for other tables, and for a release that the database does not have yet.
    package let id: Int64?
    /// A value for each of the table's columns, in their order.
    package let values: [PolicyValue]

    /// The row of a record.
    ///
    /// - Parameter owner: The bundle of the app, the id of the release, or the key of the rule, that the record belongs to
    ///   and does not name.
    init<Record: PolicyRecord>(_ record: Record, id: Int64? = nil, owner: PolicyValue? = nil) {
        table = Record.table
        self.id = id
        values = (owner.map { [$0] } ?? []) + Record.columns.map { $0.value(of: record) }
    }

    init(_ row: PolicyRow, id: Int64?) {
        table = row.table
        self.id = id
        values = row.values
    }

    /// The value of a column.
    ///
    /// - Precondition: The table has a column of this name.
    package subscript(column: String) -> PolicyValue { values[table.index(of: column)] }
}

extension Policy {
    /// The rows of a table: in the order of the policy, those that belong to an app or a rule in the order of their owners.
    package func rows(of table: PolicyTable) -> [PolicyRow] {
        switch table {
        case .apps: apps.map { PolicyRow($0) }
        case .storeLinks: Self.rows(apps, \.storeLinks) { .text(UTF8Text($0.bundle)) }
        case .feedTemplates: Self.rows(apps, \.feedTemplates) { .text(UTF8Text($0.bundle)) }
        case .releases: releases.map { PolicyRow($0, id: $0.id == Release.blank.id ? nil : $0.id) }
        case .releaseNotes: Self.rows(releases, \.notes) { .integer($0.id) }
        case .rules: rules.map { PolicyRow($0) }
        case .ruleTexts: Self.rows(rules, \.texts) { .text(UTF8Text($0.key)) }
        case .rolloutSteps: Self.rows(rules, \.steps) { .text(UTF8Text($0.key)) }
        }
    }

    private static func rows<Owner, Record: PolicyRecord>(
        _ owners: [Owner],
        _ path: KeyPath<Owner, [Record]>,
        _ name: (Owner) -> PolicyValue
    ) -> [PolicyRow] {
        owners.flatMap { owner in owner[keyPath: path].map { PolicyRow($0, owner: name(owner)) } }
    }
}
