// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// The bytes of all parameters of one statement, one after the other.
public struct PostgresEncoder: Sendable {
    private(set) var bytes: [UInt8] = []

    init() {}

    var count: Int { bytes.count }

    /// Appends an integer in network byte order.
    public mutating func append<Value: FixedWidthInteger>(_ value: Value) {
        withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
    }

    /// Appends bytes as they are.
    public mutating func append(contentsOf newBytes: some Sequence<UInt8>) {
        bytes.append(contentsOf: newBytes)
    }

    /// Appends text as UTF-8. Text with a NUL character is refused, because PostgreSQL cannot hold one.
    public mutating func append(text: String) throws(PostgresError) {
        let start = bytes.count
        bytes.append(contentsOf: text.utf8)
        guard !bytes[start...].contains(0) else {
            throw PostgresError(
                .encoding,
                "the text of a parameter contains a NUL character, which PostgreSQL cannot store",
                hint: "Remove the character U+0000 from the text."
            )
        }
    }

    mutating func replaceInt32(at offset: Int, with value: Int32) {
        withUnsafeBytes(of: value.bigEndian) { source in
            for (index, byte) in source.enumerated() { bytes[offset + index] = byte }
        }
    }
}
