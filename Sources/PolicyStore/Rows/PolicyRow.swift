// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// A row of a policy table with everything in it that people edit.
public struct PolicyRow: Sendable, Hashable {
    /// The table.
    public let table: PolicyTable
    /// The number that the database gave a release; nil for other tables and for a release that it does not have yet.
    public let id: Int64?
    /// A value for each of the table's columns, in their order.
    public private(set) var values: [PolicyValue]

    /// A row of these values.
    ///
    /// - Precondition: There is a value for each of the table's columns.
    public init(_ table: PolicyTable, id: Int64? = nil, values: [PolicyValue]) {
        precondition(
            values.count == table.columns.count,
            "a row of \(table.rawValue) has \(table.columns.count) values"
        )
        self.table = table
        self.id = id
        self.values = values
    }

    /// The value of a column.
    ///
    /// - Precondition: The table has a column of this name.
    public subscript(column: String) -> PolicyValue {
        get { values[table.place(of: column)] }
        set { values[table.place(of: column)] = newValue }
    }

    /// The row as a JSON object that `jsonb_populate_recordset` reads.
    var json: String {
        var members = zip(table.columns, values).map { "\"\($0.name)\":\($1.json)" }
        if let id { members.append("\"id\":\(id)") }
        return "{\(members.joined(separator: ","))}"
    }
}
