// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

extension Bool: PostgresEncodable, PostgresArrayElement, PostgresDecodable {
    /// `boolean`.
    public static var postgresType: PostgresType { .bool }
    /// `boolean[]`.
    public static var postgresArrayType: PostgresType { .boolArray }

    /// Writes one byte.
    public func encode(into encoder: inout PostgresEncoder) throws(PostgresError) {
        encoder.append(UInt8(self ? 1 : 0))
    }

    /// Reads a `boolean`.
    public init(from cell: PostgresCell) throws(PostgresError) {
        self = try cell.integer(UInt8.self, of: .bool, wanted: "a boolean") != 0
    }
}
