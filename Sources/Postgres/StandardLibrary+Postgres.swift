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

extension String: PostgresEncodable, PostgresArrayElement, PostgresDecodable {
    /// Left to the server, so that the text is read like a quoted literal in the same place of the statement: it can
    /// stand for text, jsonb, a uuid, an interval or any other type. Where the server cannot infer one, the statement
    /// says `$1::text`.
    public static var postgresType: PostgresType { .unspecified }
    /// The text of a literal.
    public static var postgresIsText: Bool { true }
    /// `text[]`.
    public static var postgresArrayType: PostgresType { .textArray }

    /// Writes UTF-8. Text with a NUL character is refused.
    public func encode(into encoder: inout PostgresEncoder) throws(PostgresError) {
        try encoder.append(text: self)
    }

    /// Reads `text`, `character varying`, `character`, `name`, `"char"`, `json`, `jsonb` (as the server prints it)
    /// or `uuid` (in lower case).
    public init(from cell: PostgresCell) throws(PostgresError) {
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
        default: throw cell.error("it has the type \(cell.type) where \(wanted) is wanted")
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
        let digits = Array("0123456789abcdef".utf8)
        return String(unsafeUninitializedCapacity: 36) { buffer in
            var end = 0
            for (index, byte) in bytes.enumerated() {
                if [4, 6, 8, 10].contains(index) {
                    buffer[end] = UInt8(ascii: "-")
                    end += 1
                }
                buffer[end] = digits[Int(byte >> 4)]
                buffer[end + 1] = digits[Int(byte & 15)]
                end += 2
            }
            return end
        }
    }
}

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
