import CLibpq

/// The whole answer to a statement: a collection of its rows.
///
/// `@unchecked Sendable`: a finished `PGresult` is never changed again, libpq documents reading it from several
/// threads as safe, and it is freed once, when the last reference goes.
package final class PostgresResult: @unchecked Sendable, RandomAccessCollection {
    private let pointer: OpaquePointer
    /// The columns in the order of the statement; empty for a statement that returns no rows.
    package let columns: [PostgresColumn]
    private let indexes: [String: Int]

    package let startIndex = 0
    package let endIndex: Int

    init(_ pointer: OpaquePointer) {
        self.pointer = pointer
        columns = (0..<PQnfields(pointer)).map { index in
            PostgresColumn(
                name: PQfname(pointer, index).map { String(cString: $0) } ?? "",
                type: PostgresType(rawValue: PQftype(pointer, index))
            )
        }
        indexes = Dictionary(columns.enumerated().map { ($1.name, $0) }) { first, _ in first }
        endIndex = Int(PQntuples(pointer))
    }

    deinit { PQclear(pointer) }

    package subscript(position: Int) -> PostgresRow {
        precondition(indices.contains(position), "the result has \(count) rows, no row \(position)")
        return PostgresRow(result: self, index: Int32(truncatingIfNeeded: position))
    }

    /// What the statement did, such as `UPDATE 3`.
    package var commandTag: String { String(cString: PQcmdStatus(pointer)) }

    /// How many rows the statement inserted, updated, deleted or selected.
    package var affectedRows: Int { Int(String(cString: PQcmdTuples(pointer))) ?? 0 }

    /// The only value of the only row. Throws `.decoding` if there are more or none.
    package func value<Value: PostgresDecodable>(as type: Value.Type = Value.self) throws(PostgresError) -> Value {
        guard count == 1, columns.count == 1 else {
            throw PostgresError(
                .decoding, "the result has \(count) rows of \(columns.count) columns where a single value is wanted")
        }
        return try self[0].decode(0)
    }

    func index(of name: String) throws(PostgresError) -> Int {
        guard let index = indexes[name] else {
            let names = columns.map(\.name).joined(separator: ", ")
            throw PostgresError(.decoding, "the result has no column named \(name); it has: \(names)")
        }
        return index
    }

    func cell(row: Int32, column: Int) throws(PostgresError) -> PostgresCell {
        guard columns.indices.contains(column) else {
            throw PostgresError(
                .decoding, "the result has no column \(column); it has \(columns.count), counted from 0")
        }
        let index = Int32(truncatingIfNeeded: column)
        let length = Int(PQgetlength(pointer, row, index))
        var bytes: UnsafeRawBufferPointer?
        if length > 0 || PQgetisnull(pointer, row, index) == 0 {
            bytes = UnsafeRawBufferPointer(start: PQgetvalue(pointer, row, index), count: length)
        }
        return PostgresCell(column: columns[column], type: columns[column].type, bytes: bytes)
    }

    fileprivate func isNull(row: Int32, column: Int) -> Bool {
        precondition(columns.indices.contains(column), "the result has no column \(column)")
        return PQgetisnull(pointer, row, Int32(truncatingIfNeeded: column)) != 0
    }
}

package struct PostgresColumn: Sendable, Hashable {
    /// Its name, as the statement gives it.
    package let name: String
    package let type: PostgresType
}

package struct PostgresRow: Sendable {
    let result: PostgresResult
    let index: Int32

    package var columns: [PostgresColumn] { result.columns }

    /// Whether the value of a column, by its index counted from 0, is NULL; faster than decoding an optional.
    ///
    /// - Precondition: There is such a column.
    package func isNull(_ column: Int) -> Bool { result.isNull(row: index, column: column) }

    /// The value of a column by its name, as the type that the caller expects; if two columns share it, of the first.
    package func decode<Value: PostgresDecodable>(
        _ name: String,
        as type: Value.Type = Value.self
    ) throws(PostgresError) -> Value {
        try decode(result.index(of: name))
    }

    /// The value of a column by its index, counted from 0; the fastest way for large results.
    package func decode<Value: PostgresDecodable>(
        _ column: Int,
        as type: Value.Type = Value.self
    ) throws(PostgresError) -> Value {
        try Value(from: result.cell(row: index, column: column))
    }
}

/// One value of a result in its binary form.
///
/// The bytes belong to the result; a cell lives only while a `PostgresDecodable` reads it.
package struct PostgresCell {
    let column: PostgresColumn

    /// The type of the value: the column's, or the element's inside an array.
    package let type: PostgresType

    let bytes: UnsafeRawBufferPointer?

    var isNull: Bool { bytes == nil }

    /// The bytes of a value that must be there, else an error that names the column.
    func bytes(wanted: String) throws(PostgresError) -> UnsafeRawBufferPointer {
        guard let bytes else { throw error("it is NULL where \(wanted) is wanted") }
        return bytes
    }

    /// A big-endian integer of exactly the width of `Value`.
    package func integer<Value: FixedWidthInteger>(
        _: Value.Type,
        wanted: String
    ) throws(PostgresError) -> Value {
        let bytes = try bytes(wanted: wanted)
        guard bytes.count == MemoryLayout<Value>.size else {
            throw error("its \(bytes.count) bytes are not the \(MemoryLayout<Value>.size) of its type \(type)")
        }
        return Value(bigEndian: bytes.loadUnaligned(as: Value.self))
    }

    /// The error of a value of another type than the one that is wanted.
    package func mismatch(wanted: String) -> PostgresError {
        error("it has the type \(type) where \(wanted) is wanted")
    }

    package func error(_ fault: String) -> PostgresError {
        PostgresError(.decoding, "column \(column.name): \(fault)")
    }
}
