/// The ASCII characters and classes of characters that the readers of this module ask for.
package enum ASCII {
    static let tab = UInt8(ascii: "\t")
    static let lineFeed = UInt8(ascii: "\n")
    static let carriageReturn = UInt8(ascii: "\r")
    static let space = UInt8(ascii: " ")
    static let plus = UInt8(ascii: "+")
    static let hyphen = UInt8(ascii: "-")
    static let dot = UInt8(ascii: ".")
    static let zero = UInt8(ascii: "0")
    static let nine = UInt8(ascii: "9")
    static let openParenthesis = UInt8(ascii: "(")
    static let closeParenthesis = UInt8(ascii: ")")

    @inline(__always)
    static func isBlank(_ byte: UInt8) -> Bool {
        byte == space || byte == tab || byte == lineFeed || byte == carriageReturn
    }

    @inline(__always)
    static func isDigit(_ byte: UInt8) -> Bool {
        byte &- zero < 10
    }

    @inline(__always)
    static func isLetter(_ byte: UInt8) -> Bool {
        (byte | 0x20) &- UInt8(ascii: "a") < 26
    }

    @inline(__always)
    static func isUpper(_ byte: UInt8) -> Bool {
        byte &- UInt8(ascii: "A") < 26
    }

    /// The byte with an upper-case letter made lower-case; every other byte is left as it is.
    @inline(__always)
    static func lowercased(_ byte: UInt8) -> UInt8 {
        isUpper(byte) ? byte | 0x20 : byte
    }

    /// The text with its ASCII letters made lower-case.
    package static func lowercased(_ text: String) -> String {
        guard text.utf8.contains(where: isUpper) else { return text }
        return String(decoding: text.utf8.map(lowercased), as: UTF8.self)
    }
}
