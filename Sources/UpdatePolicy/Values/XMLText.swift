/// The writing of texts in elements and attributes of XML and HTML, by the five entities of XML alone.
///
/// A carriage return becomes a line feed, as readers make it one. What XML 1.0 cannot hold is left out: no reader could be
/// told of it, and one such character makes the whole document invalid. Byte by byte: in Swift a quotation mark with a
/// combining character behind it is one character and no quotation mark, while a reader sees the end of an attribute.
package enum XMLText {
    package static func append(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(text) { text, position in
            switch text[position] {
            case UInt8(ascii: "&"): (1, "&amp;")
            case UInt8(ascii: "<"): (1, "&lt;")
            case UInt8(ascii: ">"): (1, "&gt;")
            case UInt8(ascii: "\""): (1, "&quot;")
            case UInt8(ascii: "'"): (1, "&apos;")
            case ASCII.carriageReturn: (1, text[(position + 1)...].first == ASCII.lineFeed ? "" : "\n")
            case ASCII.tab, ASCII.lineFeed: nil
            case 0..<0x20: (1, "")
            // U+FFFE and U+FFFF
            case 0xEF where text[position + 1] == 0xBF && text[position + 2] >= 0xBE: (3, "")
            default: nil
            }
        }
    }

    package static func escaped(_ text: String) -> String {
        var bytes: [UInt8] = []
        append(text, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}
