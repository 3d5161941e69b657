import CLibpq

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
    /// The index of the first row.
    public var startIndex: Int { 0 }
    /// The number of rows.
    public var endIndex: Int { storage.rowCount }
    /// A row by its index, counted from 0.
    public subscript(position: Int) -> PostgresRow {
        precondition(indices.contains(position), "the result has \(count) rows, no row \(position)")
        return PostgresRow(storage: storage, index: Int32(truncatingIfNeeded: position))
    }
}

/// The owner of a result of libpq.
///
/// `@unchecked Sendable`: a finished `PGresult` is never changed again, libpq documents reading it from several
/// threads as safe, and it is freed once, when the last reference goes.
@usableFromInline
final class PostgresResultStorage: @unchecked Sendable {
    let pointer: OpaquePointer
    @usableFromInline let columns: PostgresColumns
    let rowCount: Int

    init(_ pointer: OpaquePointer, columns: PostgresColumns? = nil) {
        self.pointer = pointer
        self.columns = columns ?? PostgresColumns(pointer)
        rowCount = Int(PQntuples(pointer))
    }

    deinit { PQclear(pointer) }

    @usableFromInline
    func checkedCell(row: Int32, column: Int) throws(PostgresError) -> PostgresCell {
        guard columns.list.indices.contains(column) else {
            throw PostgresError(
                .decoding,
                "the result has no column \(column); it has \(columns.list.count), counted from 0"
            )
        }
        return cell(row: row, column: column)
    }

    @usableFromInline
    func cell(row: Int32, column: Int) -> PostgresCell {
        let index = Int32(truncatingIfNeeded: column)
        let length = Int(PQgetlength(pointer, row, index))
        var bytes: UnsafeRawBufferPointer?
        if length > 0 || PQgetisnull(pointer, row, index) == 0 {
            bytes = UnsafeRawBufferPointer(start: PQgetvalue(pointer, row, index), count: length)
        }
        return PostgresCell(columns: columns, index: column, type: columns.list[column].type, bytes: bytes)
    }

    func isNull(row: Int32, column: Int) -> Bool {
        precondition(columns.list.indices.contains(column), "the result has no column \(column)")
        return PQgetisnull(pointer, row, Int32(truncatingIfNeeded: column)) != 0
    }

    /// The text that names what the statement did, such as `UPDATE 3`.
    var commandTag: String { String(cString: PQcmdStatus(pointer)) }

    var affectedRows: Int { Int(String(cString: PQcmdTuples(pointer))) ?? 0 }
}
