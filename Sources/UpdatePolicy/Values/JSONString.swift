/// The writing of texts as strings of JSON (RFC 8259).
package enum JSONString {
    /// Appends the text between quotation marks; what JSON does not require to be escaped is not.
    static func append(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        appendEscaped(text, to: &bytes)
        bytes.append(UInt8(ascii: "\""))
    }

    /// Appends the text as it stands between the quotation marks of a string.
    package static func appendEscaped(_ text: String, to bytes: inout [UInt8]) {
        text.withBytes { text in
            var start = 0
            for position in text.indices {
                let byte = text[position]
                guard byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") else { continue }
                bytes.append(contentsOf: text[start..<position])
                appendEscape(byte, to: &bytes)
                start = position + 1
            }
            bytes.append(contentsOf: text[start...])
        }
    }

    /// The text as a string of JSON, quotation marks included.
    package static func literal(_ text: String) -> String {
        var bytes: [UInt8] = []
        append(text, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func appendEscape(_ byte: UInt8, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\\"))
        switch byte {
        case UInt8(ascii: "\n"): bytes.append(UInt8(ascii: "n"))
        case UInt8(ascii: "\r"): bytes.append(UInt8(ascii: "r"))
        case UInt8(ascii: "\t"): bytes.append(UInt8(ascii: "t"))
        case 0x08: bytes.append(UInt8(ascii: "b"))
        case 0x0C: bytes.append(UInt8(ascii: "f"))
        case 0..<0x20:
            bytes += "u00".utf8
            bytes.append(ASCII.zero + byte >> 4)
            bytes += String(byte & 0xF, radix: 16).utf8
        default: bytes.append(byte)
        }
    }
}
