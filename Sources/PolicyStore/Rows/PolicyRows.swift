// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// All rows of the policy tables that people edit.
public struct PolicyRows: Sendable {
    private var rowsByTable: [PolicyTable: [PolicyRow]] = [:]

    /// No rows.
    public init() {}

    /// The rows of a table, in the order in which they were added.
    public subscript(table: PolicyTable) -> [PolicyRow] { rowsByTable[table] ?? [] }

    /// Adds a row behind the others of its table.
    public mutating func append(_ row: PolicyRow) {
        rowsByTable[row.table, default: []].append(row)
    }
}
