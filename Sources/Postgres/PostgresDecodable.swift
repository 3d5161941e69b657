// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// A Swift type that can be read from a column of a result.
public protocol PostgresDecodable {
    /// Reads the value from its binary form. Throws `.decoding` with the column's name and type if it does not fit.
    init(from cell: PostgresCell) throws(PostgresError)
}

extension Optional: PostgresDecodable where Wrapped: PostgresDecodable {
    /// Reads NULL as nil.
    @inlinable
    public init(from cell: PostgresCell) throws(PostgresError) {
        self = cell.isNull ? nil : try Wrapped(from: cell)
    }
}
