// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// The whole answer to a statement: a collection of its rows.
public struct PostgresResult: Sendable {
    private let storage: PostgresResultStorage

    init(_ storage: PostgresResultStorage) { self.storage = storage }

    /// The columns in the order of the statement; empty for a statement that returns no rows.
    public var columns: [PostgresColumn] { storage.columns.list }

    /// How many rows the statement inserted, updated, deleted or selected.
    public var affectedRows: Int { storage.affectedRows }

    /// What the statement did, such as `UPDATE 3`.
    public var commandTag: String { storage.commandTag }

    /// The only value of the only row. Throws `.decoding` if there are more or none.
    public func value<Value: PostgresDecodable>(as type: Value.Type = Value.self) throws(PostgresError) -> Value {
        guard count == 1, columns.count == 1 else {
            throw PostgresError(
                .decoding,
                "the result has \(count) rows of \(columns.count) columns where a single value is wanted"
            )
        }
        return try self[0][0, type]
    }
}

extension PostgresResult: RandomAccessCollection {
    /// The place of the first row.
    public var startIndex: Int { 0 }
    /// The number of rows.
    public var endIndex: Int { storage.rowCount }
    /// A row by its place, counted from 0.
    public subscript(position: Int) -> PostgresRow {
        precondition(indices.contains(position), "the result has \(count) rows, no row \(position)")
        return PostgresRow(storage: storage, index: Int32(truncatingIfNeeded: position))
    }
}
