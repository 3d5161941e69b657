// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import NIOCore
import UpdatePolicy

/// Reads the JSON body of a check into a client, in one pass over the bytes.
///
/// Grammar: [RFC 8259](https://www.rfc-editor.org/rfc/rfc8259). Numbers keep the text they were written as, which no
/// general JSON library offers: `1.10` is version 1.10. Strings must be valid UTF-8 without U+0000.
struct CheckBodyDecoder {
    /// The most bytes a body may have.
    static let maximumBodySize = 16_384
    /// How deep objects and arrays may be nested, the outermost object included.
    static let maximumDepth = 32

    private let bytes: UnsafeBufferPointer<UInt8>
    private var position = 0

    private init(_ bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
    }

    /// Reads a whole body.
    ///
    /// - Throws: a fault of status 400 that names the member or the byte that is wrong.
    static func read(_ body: ByteBuffer, into client: inout Client) throws(RequestFault) {
        let fault = body.withUnsafeReadableBytes { bytes -> RequestFault? in
            var decoder = CheckBodyDecoder(bytes.assumingMemoryBound(to: UInt8.self))
            do throws(RequestFault) {
                try decoder.decodeMembers(into: &client)
                return nil
            } catch {
                return error
            }
        }
        if let fault { throw fault }
    }

    private mutating func decodeMembers(into client: inout Client) throws(RequestFault) {
        skipWhitespace()
        guard position < bytes.count else {
            throw .badRequest("The body is empty; send a JSON object with at least the member \"bundle\".")
        }
        guard bytes[position] == UInt8(ascii: "{") else {
            let kind = isStartOfValue(bytes[position]) ? "JSON, but not an object" : "not JSON"
            throw .badRequest("The body is \(kind); send a JSON object with at least the member \"bundle\".")
        }
        position += 1
        skipWhitespace()
        if peek == UInt8(ascii: "}") {
            position += 1
        } else {
            while true {
                skipWhitespace()
                try decodeMember(into: &client)
                skipWhitespace()
                if peek == UInt8(ascii: ",") {
                    position += 1
                } else if peek == UInt8(ascii: "}") {
                    position += 1
                    break
                } else {
                    throw unexpected("a comma or the closing brace")
                }
            }
        }
        skipWhitespace()
        guard position == bytes.count else {
            throw unexpected("the end of the body")
        }
        do throws(ClientError) {
            try client.validate()
        } catch {
            throw .badRequest("\(error)")
        }
    }

    private mutating func decodeMember(into client: inout Client) throws(RequestFault) {
        let start = position
        guard peek == UInt8(ascii: "\"") else {
            throw unexpected("a member's name in double quotes")
        }
        let name = try decodeString()
        skipWhitespace()
        guard peek == UInt8(ascii: ":") else {
            throw unexpected("a colon")
        }
        position += 1
        skipWhitespace()
        let value = try decodeValue()
        do throws(ClientError) {
            try client.set(name, to: value)
        } catch {
            throw .badRequest("\(error) (at byte \(start) of the body)")
        }
    }

    private mutating func decodeValue() throws(RequestFault) -> MemberValue {
        switch peek {
        case UInt8(ascii: "\""):
            return .text(try decodeString())
        case UInt8(ascii: "t"):
            try skipLiteral("true")
            return .boolean(true)
        case UInt8(ascii: "f"):
            try skipLiteral("false")
            return .boolean(false)
        case UInt8(ascii: "n"):
            try skipLiteral("null")
            return .null
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            try skipComposite(depth: 2)
            return .composite
        default:
            return .number(try decodeNumber())
        }
    }

    // MARK: Strings

    private mutating func decodeString() throws(RequestFault) -> UTF8Text {
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
            unescaped.append(contentsOf: String(Character(scalar)).utf8)
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
            guard let byte = peek, let digit = Character(Unicode.Scalar(byte)).hexDigitValue, byte < 0x80 else {
                throw fault("four hexadecimal digits must follow \\u")
            }
            value = value << 4 + UInt32(digit)
            position += 1
        }
        return value
    }

    /// The text of bytes that are known to be ASCII, which need no validation.
    private static func text(ofASCII bytes: UnsafeBufferPointer<UInt8>) -> UTF8Text {
        UTF8Text(String(decoding: bytes, as: UTF8.self))
    }

    private func text(of bytes: UnsafeBufferPointer<UInt8>, start: Int) throws(RequestFault) -> UTF8Text {
        guard let string = String(validating: bytes, as: UTF8.self) else {
            throw .badRequest("The string that begins at byte \(start) of the body is not valid UTF-8.")
        }
        return UTF8Text(string)
    }

    // MARK: Numbers, literals, nested values

    private mutating func decodeNumber() throws(RequestFault) -> UTF8Text {
        let start = position
        if peek == UInt8(ascii: "-") { position += 1 }
        if peek == UInt8(ascii: "0") {
            position += 1
        } else {
            try skipDigits(from: start)
        }
        if peek == UInt8(ascii: ".") {
            position += 1
            try skipDigits(from: start)
        }
        if peek == UInt8(ascii: "e") || peek == UInt8(ascii: "E") {
            position += 1
            if peek == UInt8(ascii: "+") || peek == UInt8(ascii: "-") { position += 1 }
            try skipDigits(from: start)
        }
        return Self.text(ofASCII: UnsafeBufferPointer(rebasing: bytes[start..<position]))
    }

    private mutating func skipDigits(from start: Int) throws(RequestFault) {
        let first = position
        while let byte = peek, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") {
            position += 1
        }
        if position == first {
            throw first == start ? unexpected("a JSON value") : fault("a number is not complete")
        }
    }

    private mutating func skipLiteral(_ literal: StaticString) throws(RequestFault) {
        for index in 0..<literal.utf8CodeUnitCount {
            guard peek == literal.utf8Start[index] else {
                throw unexpected("\(literal)")
            }
            position += 1
        }
    }

    private mutating func skipComposite(depth: Int) throws(RequestFault) {
        guard depth <= Self.maximumDepth else {
            throw fault("objects and arrays are nested deeper than \(Self.maximumDepth)")
        }
        let isObject = bytes[position] == UInt8(ascii: "{")
        let end = isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")
        position += 1
        skipWhitespace()
        if peek == end {
            position += 1
            return
        }
        while true {
            skipWhitespace()
            if isObject {
                guard peek == UInt8(ascii: "\"") else {
                    throw unexpected("a member's name in double quotes")
                }
                _ = try decodeString()
                skipWhitespace()
                guard peek == UInt8(ascii: ":") else {
                    throw unexpected("a colon")
                }
                position += 1
                skipWhitespace()
            }
            if peek == UInt8(ascii: "{") || peek == UInt8(ascii: "[") {
                try skipComposite(depth: depth + 1)
            } else {
                _ = try decodeValue()
            }
            skipWhitespace()
            if peek == UInt8(ascii: ",") {
                position += 1
            } else if peek == end {
                position += 1
                return
            } else {
                throw unexpected("a comma or the end of the \(isObject ? "object" : "array")")
            }
        }
    }

    // MARK: Single bytes

    private var peek: UInt8? {
        position < bytes.count ? bytes[position] : nil
    }

    private mutating func skipWhitespace() {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x09, 0x0A, 0x0D: position += 1
            default: return
            }
        }
    }

    private func isStartOfValue(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "["), UInt8(ascii: "\""), UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "t"), UInt8(ascii: "f"), UInt8(ascii: "n"):
            true
        default: false
        }
    }

    private func fault(_ what: String) -> RequestFault {
        .badRequest("The body is not acceptable JSON: \(what) (at byte \(position) of the body).")
    }

    private func unexpected(_ wanted: String) -> RequestFault {
        position < bytes.count
            ? .badRequest("The body is not JSON: \(wanted) is missing at byte \(position).")
            : .badRequest("The body is not JSON: it ends where \(wanted) should stand.")
    }
}
