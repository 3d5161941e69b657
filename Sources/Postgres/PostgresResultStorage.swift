// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import CLibpq

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
        let place = Int32(truncatingIfNeeded: column)
        let length = Int(PQgetlength(pointer, row, place))
        var bytes: UnsafeRawBufferPointer?
        if length > 0 || PQgetisnull(pointer, row, place) == 0 {
            bytes = UnsafeRawBufferPointer(start: PQgetvalue(pointer, row, place), count: length)
        }
        return PostgresCell(columns: columns, index: column, type: columns.list[column].type, bytes: bytes)
    }

    /// The text that names what the statement did, such as `UPDATE 3`.
    var commandTag: String { String(cString: PQcmdStatus(pointer)) }

    var affectedRows: Int { Int(String(cString: PQcmdTuples(pointer))) ?? 0 }
}
