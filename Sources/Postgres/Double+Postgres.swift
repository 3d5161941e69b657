// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

extension Double: PostgresEncodable, PostgresArrayElement, PostgresDecodable {
    /// `double precision`.
    public static var postgresType: PostgresType { .float8 }
    /// `double precision[]`.
    public static var postgresArrayType: PostgresType { .float8Array }

    /// Writes the bits in network order.
    public func encode(into encoder: inout PostgresEncoder) throws(PostgresError) {
        encoder.append(bitPattern)
    }

    /// Reads a `double precision` or a `real`.
    public init(from cell: PostgresCell) throws(PostgresError) {
        let wanted = "a floating-point number"
        switch cell.type {
        case .float8: self.init(bitPattern: try cell.integer(UInt64.self, in: cell.bytes(wanted: wanted)))
        case .float4:
            self.init(Float(bitPattern: try cell.integer(UInt32.self, in: cell.bytes(wanted: wanted))))
        default: throw cell.error("it has the type \(cell.type) where \(wanted) is wanted")
        }
    }
}
