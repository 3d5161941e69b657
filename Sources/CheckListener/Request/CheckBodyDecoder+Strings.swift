// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import UpdatePolicy

extension CheckBodyDecoder {
    /// Reads the name of a known member that is written without escapes; where there is none, nothing is read.
    ///
    /// Most names are such, and need no text of their own.
    mutating func takeKnownMember() -> KnownMember? {
        let name = bytes[(position + 1)...].prefix(KnownMember.maximumNameLength + 1)
        guard let end = name.firstIndex(of: UInt8(ascii: "\"")),
            let member = KnownMember(name: UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: name[..<end])))
        else { return nil }
        position = end + 1
        return member
    }

    mutating func decodeString() throws(RequestFault) -> UTF8Text {
        let start = position
        position += 1
        let content = position
        var seen: UInt8 = 0
        while position < bytes.count {
            let byte = bytes[position]
            if byte == UInt8(ascii: "\"") {
                let string = UnsafeBufferPointer(rebasing: bytes[content..<position])
                let text = try seen < 0x80 ? Self.text(ofASCII: string) : text(of: string, start: start)
                position += 1
                return text
            }
            seen |= byte
            if byte == UInt8(ascii: "\\") {
                return try decodeEscapedString(start: start, content: content)
            }
            if byte < 0x20 {
                throw fault("a control character stands unescaped in a string")
            }
            position += 1
        }
        throw .badRequest("The body ends inside a string that begins at byte \(start).")
    }

    private mutating func decodeEscapedString(start: Int, content: Int) throws(RequestFault) -> UTF8Text {
        var unescaped = Array(bytes[content..<position])
        while position < bytes.count {
            let byte = bytes[position]
            switch byte {
            case UInt8(ascii: "\""):
                let result = unescaped.withUnsafeBufferPointer { buffer -> Result<UTF8Text, RequestFault> in
                    do throws(RequestFault) {
                        return .success(try text(of: buffer, start: start))
                    } catch {
                        return .failure(error)
                    }
                }
                position += 1
                return try result.get()
            case UInt8(ascii: "\\"):
                position += 1
                try decodeEscape(into: &unescaped)
            case 0..<0x20:
                throw fault("a control character stands unescaped in a string")
            default:
                unescaped.append(byte)
                position += 1
            }
        }
        throw .badRequest("The body ends inside a string that begins at byte \(start).")
    }

    private mutating func decodeEscape(into unescaped: inout [UInt8]) throws(RequestFault) {
        guard let escape = peek else {
            throw .badRequest("The body ends inside an escape sequence.")
        }
        position += 1
        switch escape {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): unescaped.append(escape)
        case UInt8(ascii: "b"): unescaped.append(0x08)
        case UInt8(ascii: "f"): unescaped.append(0x0C)
        case UInt8(ascii: "n"): unescaped.append(0x0A)
        case UInt8(ascii: "r"): unescaped.append(0x0D)
        case UInt8(ascii: "t"): unescaped.append(0x09)
        case UInt8(ascii: "u"):
            let scalar = try decodeUnicodeEscape()
            unescaped.append(contentsOf: scalar.utf8)
        default:
            position -= 1
            throw fault("a backslash is followed by a character that JSON does not know as an escape")
        }
    }

    /// Reads what follows `\\u`, both halves of a surrogate pair if it is one.
    private mutating func decodeUnicodeEscape() throws(RequestFault) -> Unicode.Scalar {
        let high = try decodeHexadecimal()
        if high == 0 {
            throw fault("a string holds the character U+0000, which is not allowed")
        }
        if let scalar = Unicode.Scalar(high) {
            return scalar
        }
        guard high < 0xDC00, position + 1 < bytes.count, bytes[position] == UInt8(ascii: "\\"),
            bytes[position + 1] == UInt8(ascii: "u")
        else {
            throw fault("a string holds half of a surrogate pair")
        }
        position += 2
        let low = try decodeHexadecimal()
        guard (0xDC00..<0xE000).contains(low),
            let scalar = Unicode.Scalar(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))
        else {
            throw fault("a string holds half of a surrogate pair")
        }
        return scalar
    }

    private mutating func decodeHexadecimal() throws(RequestFault) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let digit = peek?.hexadecimalDigit else {
                throw fault("four hexadecimal digits must follow \\u")
            }
            value = value << 4 + UInt32(digit)
            position += 1
        }
        return value
    }

    /// The text of bytes that are known to be ASCII, which need no validation.
    static func text(ofASCII bytes: UnsafeBufferPointer<UInt8>) -> UTF8Text {
        UTF8Text(String(decoding: bytes, as: UTF8.self))
    }

    private func text(of bytes: UnsafeBufferPointer<UInt8>, start: Int) throws(RequestFault) -> UTF8Text {
        guard let string = String(validating: bytes, as: UTF8.self) else {
            throw .badRequest("The string that begins at byte \(start) of the body is not valid UTF-8.")
        }
        return UTF8Text(string)
    }
}
