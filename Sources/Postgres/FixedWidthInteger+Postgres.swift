// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

extension Int16: PostgresEncodable, PostgresArrayElement, PostgresDecodable {
    /// `smallint`.
    public static var postgresType: PostgresType { .int2 }
    /// `smallint[]`.
    public static var postgresArrayType: PostgresType { .int2Array }
}

extension Int32: PostgresEncodable, PostgresArrayElement, PostgresDecodable {
    /// `integer`.
    public static var postgresType: PostgresType { .int4 }
    /// `integer[]`.
    public static var postgresArrayType: PostgresType { .int4Array }
}

extension Int64: PostgresEncodable, PostgresArrayElement, PostgresDecodable {
    /// `bigint`.
    public static var postgresType: PostgresType { .int8 }
    /// `bigint[]`.
    public static var postgresArrayType: PostgresType { .int8Array }
}

extension Int: PostgresEncodable, PostgresArrayElement, PostgresDecodable {
    /// `bigint`.
    public static var postgresType: PostgresType { .int8 }
    /// `bigint[]`.
    public static var postgresArrayType: PostgresType { .int8Array }
}

extension FixedWidthInteger where Self: PostgresEncodable {
    /// Writes the bytes in network order.
    public func encode(into encoder: inout PostgresEncoder) throws(PostgresError) {
        encoder.append(self)
    }
}

extension FixedWidthInteger where Self: PostgresDecodable {
    /// Reads a `smallint`, `integer`, `bigint` or `oid`. Throws `.decoding` for a value out of the range of the type.
    public init(from cell: PostgresCell) throws(PostgresError) {
        let wanted = "an integer"
        let exact: Self?
        switch cell.type {
        case .int8: exact = Self(exactly: try cell.integer(Int64.self, in: cell.bytes(wanted: wanted)))
        case .int4: exact = Self(exactly: try cell.integer(Int32.self, in: cell.bytes(wanted: wanted)))
        case .int2: exact = Self(exactly: try cell.integer(Int16.self, in: cell.bytes(wanted: wanted)))
        case .oid: exact = Self(exactly: try cell.integer(UInt32.self, in: cell.bytes(wanted: wanted)))
        default: throw cell.error("it has the type \(cell.type) where \(wanted) is wanted")
        }
        guard let exact else { throw cell.error("it is out of the range of \(Self.self)") }
        self = exact
    }
}
