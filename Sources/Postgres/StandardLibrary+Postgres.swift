extension Int16: PostgresEncodable, PostgresArrayElement, PostgresDecodable {
    package static var postgresType: PostgresType { .int2 }
}

extension Int32: PostgresEncodable, PostgresArrayElement, PostgresDecodable {
    package static var postgresType: PostgresType { .int4 }
}

extension Int64: PostgresEncodable, PostgresArrayElement, PostgresDecodable {
    package static var postgresType: PostgresType { .int8 }
}

extension Int: PostgresEncodable, PostgresArrayElement, PostgresDecodable {
    package static var postgresType: PostgresType { .int8 }
}

extension FixedWidthInteger where Self: PostgresEncodable {
    package func encode(into encoder: inout PostgresEncoder) throws(PostgresError) {
        encoder.append(self)
    }
}

extension FixedWidthInteger where Self: PostgresDecodable {
    /// Reads a `smallint`, `integer`, `bigint` or `oid`. Throws `.decoding` for a value out of the range of the type.
    package init(from cell: PostgresCell) throws(PostgresError) {
        let wanted = "an integer"
        let exact: Self? =
            switch cell.type {
            case .int8: Self(exactly: try cell.integer(Int64.self, wanted: wanted))
            case .int4: Self(exactly: try cell.integer(Int32.self, wanted: wanted))
            case .int2: Self(exactly: try cell.integer(Int16.self, wanted: wanted))
            case .oid: Self(exactly: try cell.integer(UInt32.self, wanted: wanted))
            default: throw cell.mismatch(wanted: wanted)
            }
        guard let exact else { throw cell.error("it is out of the range of \(Self.self)") }
        self = exact
    }
}

extension Bool: PostgresEncodable, PostgresArrayElement, PostgresDecodable {
    package static var postgresType: PostgresType { .bool }

    package func encode(into encoder: inout PostgresEncoder) throws(PostgresError) {
        encoder.append(UInt8(self ? 1 : 0))
    }

    package init(from cell: PostgresCell) throws(PostgresError) {
        let wanted = "a boolean"
        guard cell.type == .bool else { throw cell.mismatch(wanted: wanted) }
        self = try cell.integer(UInt8.self, wanted: wanted) != 0
    }
}

extension Double: PostgresEncodable, PostgresArrayElement, PostgresDecodable {
    package static var postgresType: PostgresType { .float8 }

    package func encode(into encoder: inout PostgresEncoder) throws(PostgresError) {
        encoder.append(bitPattern)
    }

    /// Reads a `double precision` or a `real`.
    package init(from cell: PostgresCell) throws(PostgresError) {
        let wanted = "a floating-point number"
        switch cell.type {
        case .float8: self.init(bitPattern: try cell.integer(UInt64.self, wanted: wanted))
        case .float4: self.init(Float(bitPattern: try cell.integer(UInt32.self, wanted: wanted)))
        default: throw cell.mismatch(wanted: wanted)
        }
    }
}

extension String: PostgresEncodable, PostgresArrayElement, PostgresDecodable {
    /// Left to the server, so that the text is read like a quoted literal in the same place of the statement: it can
    /// stand for text, jsonb, a uuid, an interval or any other type. Where the server cannot infer one, the statement
    /// says `$1::text`.
    package static var postgresType: PostgresType { .unspecified }
    package static var postgresIsText: Bool { true }

    package func encode(into encoder: inout PostgresEncoder) throws(PostgresError) {
        try encoder.append(text: self)
    }

    /// Reads `text`, `character varying`, `character`, `name`, `"char"`, `json`, `jsonb` (as the server prints it)
    /// or `uuid` (in lower case).
    package init(from cell: PostgresCell) throws(PostgresError) {
        let wanted = "text"
        switch cell.type {
        case .text, .varchar, .bpchar, .name, .json, .unknown, .char:
            self = try Self.validated(cell.bytes(wanted: wanted), cell)
        case .jsonb:
            let bytes = try cell.bytes(wanted: wanted)
            guard bytes.first == 1 else { throw cell.error("its jsonb is of a version that is not known") }
            self = try Self.validated(UnsafeRawBufferPointer(rebasing: bytes.dropFirst()), cell)
        case .uuid:
            self = try Self.uuid(cell.bytes(wanted: wanted), cell)
        default: throw cell.mismatch(wanted: wanted)
        }
    }

    private static func validated(
        _ bytes: UnsafeRawBufferPointer,
        _ cell: PostgresCell
    ) throws(PostgresError) -> String {
        // Validating is several times slower than decoding, and nearly all text is ASCII.
        if bytes.reduce(0, |) < 0x80 { return String(decoding: bytes, as: UTF8.self) }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw cell.error("its text is not UTF-8") }
        return text
    }

    private static func uuid(_ bytes: UnsafeRawBufferPointer, _ cell: PostgresCell) throws(PostgresError) -> String {
        guard bytes.count == 16 else { throw cell.error("its uuid has \(bytes.count) bytes, not 16") }
        return bytes.enumerated().reduce(into: "") { text, byte in
            if [4, 6, 8, 10].contains(byte.offset) { text += "-" }
            text += String(byte.element >> 4, radix: 16) + String(byte.element & 15, radix: 16)
        }
    }
}
