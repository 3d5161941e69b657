// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

extension Array: PostgresEncodable where Element: PostgresArrayElement {
    /// The array type of the element.
    public static var postgresType: PostgresType { Element.postgresArrayType }

    /// Writes a one-dimensional array.
    public func encode(into encoder: inout PostgresEncoder) throws(PostgresError) {
        try Element.encodeArray(self, into: &encoder)
    }
}

extension Array: PostgresDecodable where Element: PostgresArrayElement {
    /// Reads a one-dimensional array. NULL elements are refused unless the element is optional, and so are arrays of
    /// more dimensions.
    public init(from cell: PostgresCell) throws(PostgresError) {
        self = try Element.decodeArray(cell)
    }
}

/// Elements that may be NULL.
extension Optional: PostgresArrayElement
where Wrapped: PostgresArrayElement & PostgresEncodable & PostgresDecodable {
    /// The array type of the element.
    public static var postgresArrayType: PostgresType { Wrapped.postgresArrayType }

    /// Writes a one-dimensional array; nil is NULL.
    public static func encodeArray(_ array: [Self], into encoder: inout PostgresEncoder) throws(PostgresError) {
        try PostgresArrayFormat.encode(array, of: Wrapped.self, into: &encoder)
    }

    /// Reads a one-dimensional array; NULL is nil.
    public static func decodeArray(_ cell: PostgresCell) throws(PostgresError) -> [Self] {
        try PostgresArrayFormat.decode(cell, of: Self.self)
    }
}

extension PostgresArrayElement where Self: PostgresEncodable & PostgresDecodable {
    /// Writes a one-dimensional array.
    public static func encodeArray(_ array: [Self], into encoder: inout PostgresEncoder) throws(PostgresError) {
        try PostgresArrayFormat.encode(array, of: Self.self, into: &encoder)
    }

    /// Reads a one-dimensional array without NULL.
    public static func decodeArray(_ cell: PostgresCell) throws(PostgresError) -> [Self] {
        try PostgresArrayFormat.decode(cell, of: Self.self)
    }
}
