// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

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
