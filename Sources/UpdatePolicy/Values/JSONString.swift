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
        bytes.append(text) { text, position in escape(of: text[position]).map { (1, $0) } }
    }

    /// The text as a string of JSON, quotation marks included.
    package static func literal(_ text: String) -> String {
        var bytes: [UInt8] = []
        append(text, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    @inline(__always)
    private static func escape(of byte: UInt8) -> String? {
        switch byte {
        case UInt8(ascii: "\""): #"\""#
        case UInt8(ascii: "\\"): #"\\"#
        case UInt8(ascii: "\n"): #"\n"#
        case UInt8(ascii: "\r"): #"\r"#
        case UInt8(ascii: "\t"): #"\t"#
        case 0x08: #"\b"#
        case 0x0C: #"\f"#
        case 0..<0x20: #"\u00\#(byte >> 4)\#(String(byte & 0xF, radix: 16))"#
        default: nil
        }
    }
}
