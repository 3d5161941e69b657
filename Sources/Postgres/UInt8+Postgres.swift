// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// An array of bytes is a `bytea`.
extension UInt8: PostgresArrayElement {
    /// `bytea`.
    public static var postgresArrayType: PostgresType { .bytea }

    /// Writes the bytes as they are.
    public static func encodeArray(_ array: [UInt8], into encoder: inout PostgresEncoder) throws(PostgresError) {
        encoder.append(contentsOf: array)
    }

    /// Reads a `bytea`.
    public static func decodeArray(_ cell: PostgresCell) throws(PostgresError) -> [UInt8] {
        [UInt8](try cell.bytes(of: .bytea, wanted: "bytes"))
    }
}

/// An array of arrays of bytes is a `bytea[]`.
extension Array: PostgresArrayElement where Element == UInt8 {
    /// `bytea[]`.
    public static var postgresArrayType: PostgresType { .byteaArray }
}
