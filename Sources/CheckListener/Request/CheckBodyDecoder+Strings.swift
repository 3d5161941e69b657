import UpdatePolicy

extension CheckBodyDecoder {
    /// Reads a string.
    mutating func decodeString() throws(RequestFault) -> Text {
        let start = position
        position &+= 1
        let content = position
        position = bytes.end(of: .plainJSON, from: content)
        if peek == UInt8(ascii: "\"") {
            position &+= 1
            return Text(range: content..<(position &- 1), isCopied: false)
        }
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\""):
                let range = content..<position
                try validate(UnsafeRawBufferPointer(rebasing: bytes[range]), start: start)
                position &+= 1
                return Text(range: range, isCopied: false)
            case UInt8(ascii: "\\"):
                return try decodeEscapedString(start: start, content: content)
            case 0..<0x20:
                throw fault("a control character stands unescaped in a string")
            default:
                position &+= 1
            }
        }
        throw .badRequest("The body ends inside a string that begins at byte \(start).")
    }

    private mutating func decodeEscapedString(start: Int, content: Int) throws(RequestFault) -> Text {
        let first = copied.count
        copied += bytes[content..<position]
        while position < bytes.count {
            let byte = bytes[position]
            switch byte {
            case UInt8(ascii: "\""):
                position += 1
                let range = first..<copied.count
                let fault = copied.withUnsafeBytes { copied -> RequestFault? in
                    do throws(RequestFault) {
                        try validate(UnsafeRawBufferPointer(rebasing: copied[range]), start: start)
                        return nil
                    } catch {
                        return error
                    }
                }
                if let fault { throw fault }
                return Text(range: range, isCopied: true)
            case UInt8(ascii: "\\"):
                position += 1
                try decodeEscape()
            case 0..<0x20:
                throw fault("a control character stands unescaped in a string")
            default:
                copied.append(byte)
                position += 1
            }
        }
        throw .badRequest("The body ends inside a string that begins at byte \(start).")
    }

    private mutating func decodeEscape() throws(RequestFault) {
        guard let escape = peek else {
            throw .badRequest("The body ends inside an escape sequence.")
        }
        position += 1
        switch escape {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): copied.append(escape)
        case UInt8(ascii: "b"): copied.append(0x08)
        case UInt8(ascii: "f"): copied.append(0x0C)
        case UInt8(ascii: "n"): copied.append(0x0A)
        case UInt8(ascii: "r"): copied.append(0x0D)
        case UInt8(ascii: "t"): copied.append(0x09)
        case UInt8(ascii: "u"):
            let scalar = try decodeUnicodeEscape()
            copied.append(contentsOf: scalar.utf8)
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

    private func validate(_ text: UnsafeRawBufferPointer, start: Int) throws(RequestFault) {
        guard String(validating: text, as: UTF8.self) != nil else {
            throw .badRequest("The string that begins at byte \(start) of the body is not valid UTF-8.")
        }
    }
}
