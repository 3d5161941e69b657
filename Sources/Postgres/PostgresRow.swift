import CLibpq

/// One row of a result.
public struct PostgresRow: Sendable {
    @usableFromInline let storage: PostgresResultStorage
    @usableFromInline let index: Int32

    init(storage: PostgresResultStorage, index: Int32) {
        self.storage = storage
        self.index = index
    }

    /// The columns in the order of the statement.
    public var columns: [PostgresColumn] { storage.columns.list }

    /// The value of a column by its name; if two columns share it, of the first.
    @inlinable
    public subscript<Value: PostgresDecodable>(name: String, type: Value.Type) -> Value {
        get throws(PostgresError) {
            try Value(from: storage.cell(row: index, column: storage.columns.index(of: name)))
        }
    }

    /// The value of a column by its index, counted from 0; the fastest way for large results.
    @inlinable
    public subscript<Value: PostgresDecodable>(column: Int, type: Value.Type) -> Value {
        get throws(PostgresError) {
            try Value(from: storage.checkedCell(row: index, column: column))
        }
    }

    /// Whether the value of a column, by its index counted from 0, is NULL; faster than decoding an optional.
    ///
    /// - Precondition: There is such a column.
    public func isNull(_ column: Int) -> Bool { storage.isNull(row: index, column: column) }

    /// The value of a column by its name, as the type that the caller expects.
    @inlinable
    public func decode<Value: PostgresDecodable>(
        _ name: String,
        as type: Value.Type = Value.self
    ) throws(PostgresError) -> Value {
        try self[name, type]
    }

    /// The value of a column by its index, counted from 0, as the type that the caller expects.
    @inlinable
    public func decode<Value: PostgresDecodable>(
        _ column: Int,
        as type: Value.Type = Value.self
    ) throws(PostgresError) -> Value {
        try self[column, type]
    }
}
