// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// One statement that does one thing to many rows of a table.
///
/// The rows go as one JSON document, so ten thousand of them are one round trip.
struct PolicyBatch {
    /// A row, and where among the wanted rows it comes from.
    struct Item {
        let row: PolicyRow
        let place: Int?
    }

    let table: PolicyTable
    /// Whether the rows are not there yet.
    var isInsertion = false
    /// The statement, whose only parameter is the document.
    let sql: String
    let items: [Item]

    /// The document for all the rows.
    var document: String { Self.document(items) }

    /// The document for some rows.
    static func document(_ items: [Item]) -> String {
        "[\(items.map(\.row.json).joined(separator: ",\n"))]"
    }

    /// Adds rows.
    static func insert(_ table: PolicyTable, _ items: [Item]) -> PolicyBatch {
        let columns = table.columns.map(\.name).joined(separator: ", ")
        return PolicyBatch(
            table: table,
            isInsertion: true,
            sql: "INSERT INTO public.\(table.rawValue) (\(columns)) SELECT \(columns) FROM \(recordset(table))",
            items: items
        )
    }

    /// Gives rows the values of the items.
    static func update(_ table: PolicyTable, _ items: [Item]) -> PolicyBatch {
        update(table, columns: table.columns.map(\.name).filter { $0 != "key" && $0 != "rule" }, items)
    }

    /// Gives some columns of rows the values of the items.
    static func update(_ table: PolicyTable, columns: [String], _ items: [Item]) -> PolicyBatch {
        let assignments = columns.map { "\($0) = wanted.\($0)" }.joined(separator: ", ")
        return PolicyBatch(
            table: table,
            sql: """
                UPDATE public.\(table.rawValue) AS present SET \(assignments)
                FROM \(recordset(table)) AS wanted WHERE \(isSameRow(table))
                """,
            items: items
        )
    }

    /// Removes rows.
    static func delete(_ table: PolicyTable, _ items: [Item]) -> PolicyBatch {
        PolicyBatch(
            table: table,
            sql: """
                DELETE FROM public.\(table.rawValue) AS present
                USING \(recordset(table)) AS wanted WHERE \(isSameRow(table))
                """,
            items: items
        )
    }

    private static func recordset(_ table: PolicyTable) -> String {
        "jsonb_populate_recordset(NULL::public.\(table.rawValue), $1::text::jsonb)"
    }

    /// The condition that finds the row that an item is for.
    private static func isSameRow(_ table: PolicyTable) -> String {
        switch table {
        case .apps: "lower(present.bundle) = lower(wanted.bundle)"
        case .storeLinks: "lower(present.bundle) = lower(wanted.bundle) AND present.platform = wanted.platform"
        case .releases: "present.id = wanted.id"
        case .rules: "present.key = wanted.key"
        case .ruleTexts: "present.rule = wanted.rule AND lower(present.language) = lower(wanted.language)"
        case .rolloutSteps: "present.rule = wanted.rule AND present.at = wanted.at"
        }
    }
}
