/// The writing of texts in elements and attributes of XML and HTML, by the five entities of XML alone.
///
/// A carriage return becomes a line feed, as readers make it one. What XML 1.0 cannot hold is left out: no reader could be
/// told of it, and one such character makes the whole document invalid. Byte by byte: in Swift a quotation mark with a
/// combining character behind it is one character and no quotation mark, while a reader sees the end of an attribute.
package enum XMLText {
    package static func append(_ text: String, to bytes: inout [UInt8]) {
        var text = text
        text.withUTF8 { text in
            var start = 0
            for position in text.indices {
                guard let (length, replacement) = replacement(at: position, of: text) else { continue }
                bytes.append(contentsOf: text[start..<position])
                bytes.append(contentsOf: replacement.utf8)
                start = position + length
            }
            bytes.append(contentsOf: text[start...])
        }
    }

    package static func escaped(_ text: String) -> String {
        var bytes: [UInt8] = []
        append(text, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The replacement of the character at a position, and the length of that character; `nil` where it stands for itself.
    private static func replacement(
        at position: Int,
        of text: UnsafeBufferPointer<UInt8>
    ) -> (length: Int, text: String)? {
        switch text[position] {
        case UInt8(ascii: "&"): (1, "&amp;")
        case UInt8(ascii: "<"): (1, "&lt;")
        case UInt8(ascii: ">"): (1, "&gt;")
        case UInt8(ascii: "\""): (1, "&quot;")
        case UInt8(ascii: "'"): (1, "&apos;")
        case UInt8(ascii: "\r"): (1, text[(position + 1)...].first == UInt8(ascii: "\n") ? "" : "\n")
        case UInt8(ascii: "\t"), UInt8(ascii: "\n"): nil
        case 0..<0x20: (1, "")
        // U+FFFE and U+FFFF
        case 0xEF where text[position + 1] == 0xBF && text[position + 2] >= 0xBE: (3, "")
        default: nil
        }
    }
}
