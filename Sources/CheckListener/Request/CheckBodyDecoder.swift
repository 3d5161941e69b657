import UpdatePolicy

/// Reads the JSON body of a check into a client, in one pass over the bytes.
///
/// Grammar: [RFC 8259](https://www.rfc-editor.org/rfc/rfc8259). Numbers keep the text they were written as, which no
/// general JSON library offers: `1.10` is version 1.10. Strings must be valid UTF-8 without U+0000.
///
/// Texts are handed to the client where they stand in the body; only those with escapes are copied before.
struct CheckBodyDecoder {
    /// The most bytes a body may have.
    static let maximumBodySize = 16_384
    /// How deep objects and arrays may be nested, the outermost object included.
    static let maximumDepth = 32

    /// A string: where it is in the body, or what it is where it has escapes.
    private enum Text {
        case plain(Range<Int>)
        case resolved([UInt8])
    }

    /// The value of a member.
    private enum Value {
        case string(Text)
        case number(Range<Int>)
        case boolean(Bool)
        case null
        case composite
    }

    private let bytes: UnsafeRawBufferPointer
    private var position = 0
    /// Where the body begins among the bytes of the client.
    private let start: Int

    private init(_ bytes: UnsafeRawBufferPointer, start: Int) {
        self.bytes = bytes
        self.start = start
    }

    /// Reads a whole body.
    ///
    /// - Throws: a fault of status 400 that names the member or the byte that is wrong.
    static func read(_ body: UnsafeRawBufferPointer, into client: inout Client) throws(RequestFault) {
        var decoder = CheckBodyDecoder(body, start: client.append(body).lowerBound)
        try decoder.decodeMembers(into: &client)
    }

    private mutating func decodeMembers(into client: inout Client) throws(RequestFault) {
        skipWhitespace()
        guard position < bytes.count else {
            throw .badRequest("The body is empty; send a JSON object with at least the member \"bundle\".")
        }
        if bytes[position] != UInt8(ascii: "{"), bytes.starts(with: [0xEF, 0xBB, 0xBF]) {
            // The mark that some programs put before UTF-8.
            position = 3
            skipWhitespace()
        }
        guard peek == UInt8(ascii: "{") else {
            throw .badRequest("The body is not a JSON object; send one with at least the member \"bundle\".")
        }
        position &+= 1
        skipWhitespace()
        if peek == UInt8(ascii: "}") {
            position &+= 1
        } else {
            while true {
                skipWhitespace()
                try decodeMember(into: &client)
                skipWhitespace()
                let byte = peek
                guard byte == UInt8(ascii: ",") || byte == UInt8(ascii: "}") else {
                    throw unexpected("a comma or the closing brace")
                }
                position &+= 1
                if byte == UInt8(ascii: "}") { break }
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

    @inline(__always)
    private mutating func decodeMember(into client: inout Client) throws(RequestFault) {
        let first = position
        if let (name, value) = decodePlainMember() {
            do throws(ClientError) {
                try client.setMember(at: moved(name), toText: moved(value))
            } catch {
                throw fault(error, first)
            }
        } else {
            // With a decoder in memory, which only the unusual needs; all else is read in registers.
            var decoder = self
            try decoder.decodeUnusualMember(into: &client)
            self = decoder
        }
    }

    /// Reads a member whose name and value are strings of plain ASCII, as nearly all are; another is left unread.
    @inline(__always)
    private mutating func decodePlainMember() -> (name: Range<Int>, value: Range<Int>)? {
        guard peek == UInt8(ascii: "\"") else { return nil }
        let name = position &+ 1
        let nameEnd = bytes.end(of: .plainJSON, from: name)
        guard nameEnd &+ 3 < bytes.count, bytes[nameEnd] == UInt8(ascii: "\""),
            bytes[nameEnd &+ 1] == UInt8(ascii: ":")
        else { return nil }
        let value = bytes[nameEnd &+ 2] == 0x20 ? nameEnd &+ 4 : nameEnd &+ 3
        guard bytes[value &- 1] == UInt8(ascii: "\"") else { return nil }
        let valueEnd = bytes.end(of: .plainJSON, from: value)
        guard valueEnd < bytes.count, bytes[valueEnd] == UInt8(ascii: "\"") else { return nil }
        position = valueEnd &+ 1
        return (Range(uncheckedBounds: (name, nameEnd)), Range(uncheckedBounds: (value, valueEnd)))
    }

    @inline(never)
    private mutating func decodeUnusualMember(into client: inout Client) throws(RequestFault) {
        let first = position
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
            try client.setMember(at: range(of: name, in: &client), to: memberRange(of: value, in: &client))
        } catch {
            throw fault(error, first)
        }
    }

    private func fault(_ error: ClientError, _ position: Int) -> RequestFault {
        .badRequest("\(error) (at byte \(position) of the body)")
    }

    /// Where a string is among the bytes of the client.
    private func range(of text: Text, in client: inout Client) -> Range<Int> {
        switch text {
        case .plain(let range): moved(range)
        case .resolved(let text): text.withUnsafeBytes { client.append($0) }
        }
    }

    @inline(__always)
    private func moved(_ range: Range<Int>) -> Range<Int> {
        Range(uncheckedBounds: (start &+ range.lowerBound, start &+ range.upperBound))
    }

    /// A value whose text is among the bytes of the client.
    private func memberRange(of value: Value, in client: inout Client) -> MemberRange {
        switch value {
        case .string(let text): .text(range(of: text, in: &client))
        case .number(let number): .number(moved(number))
        case .boolean(let boolean): .boolean(boolean)
        case .null: .null
        case .composite: .composite
        }
    }

    // MARK: Values

    private mutating func decodeValue() throws(RequestFault) -> Value {
        switch peek {
        case UInt8(ascii: "\""):
            return .string(try decodeString())
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

    private mutating func decodeNumber() throws(RequestFault) -> Range<Int> {
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
        return start..<position
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

    // MARK: Strings

    /// Reads a string.
    private mutating func decodeString() throws(RequestFault) -> Text {
        let start = position
        position &+= 1
        let content = position
        position = bytes.end(of: .plainJSON, from: content)
        if peek == UInt8(ascii: "\"") {
            position &+= 1
            return .plain(content..<(position &- 1))
        }
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\""):
                let range = content..<position
                try validate(UnsafeRawBufferPointer(rebasing: bytes[range]), start: start)
                position &+= 1
                return .plain(range)
            case UInt8(ascii: "\\"):
                return try decodeEscapedString(start: start, content: content)
            case 0..<0x20:
                throw fault("a string has a control character that is not escaped")
            default:
                position &+= 1
            }
        }
        throw .badRequest("The body ends inside a string that begins at byte \(start).")
    }

    private mutating func decodeEscapedString(start: Int, content: Int) throws(RequestFault) -> Text {
        var text = Array(bytes[content..<position])
        while position < bytes.count {
            let byte = bytes[position]
            switch byte {
            case UInt8(ascii: "\""):
                position += 1
                try validate(text, start: start)
                return .resolved(text)
            case UInt8(ascii: "\\"):
                position += 1
                try decodeEscape(into: &text)
            case 0..<0x20:
                throw fault("a string has a control character that is not escaped")
            default:
                text.append(byte)
                position += 1
            }
        }
        throw .badRequest("The body ends inside a string that begins at byte \(start).")
    }

    private mutating func decodeEscape(into text: inout [UInt8]) throws(RequestFault) {
        guard let escape = peek else {
            throw .badRequest("The body ends inside an escape sequence.")
        }
        position += 1
        switch escape {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(escape)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"):
            let scalar = try decodeUnicodeEscape()
            text.append(contentsOf: scalar.utf8)
        default:
            position -= 1
            throw fault("a backslash is followed by a character that JSON does not know as an escape")
        }
    }

    /// Reads what follows `\\u`, both halves of a surrogate pair if it is one.
    private mutating func decodeUnicodeEscape() throws(RequestFault) -> Unicode.Scalar {
        let high = try decodeHexadecimal()
        if high == 0 {
            throw fault("a string has the character U+0000, which is not allowed")
        }
        if let scalar = Unicode.Scalar(high) {
            return scalar
        }
        guard high < 0xDC00, position + 1 < bytes.count, bytes[position] == UInt8(ascii: "\\"),
            bytes[position + 1] == UInt8(ascii: "u")
        else {
            throw fault("a string has half of a surrogate pair")
        }
        position += 2
        let low = try decodeHexadecimal()
        guard (0xDC00..<0xE000).contains(low),
            let scalar = Unicode.Scalar(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))
        else {
            throw fault("a string has half of a surrogate pair")
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

    private func validate(_ text: some Collection<UInt8>, start: Int) throws(RequestFault) {
        guard String(validating: text, as: UTF8.self) != nil else {
            throw .badRequest("The string that begins at byte \(start) of the body is not valid UTF-8.")
        }
    }

    // MARK: Single bytes

    @inline(__always)
    private var peek: UInt8? {
        position < bytes.count ? bytes[position] : nil
    }

    @inline(__always)
    private mutating func skipWhitespace() {
        while position < bytes.count, bytes[position] <= 0x20 {
            switch bytes[position] {
            case 0x20, 0x09, 0x0A, 0x0D: position &+= 1
            default: return
            }
        }
    }

    private func fault(_ what: String) -> RequestFault {
        .badRequest("The body is not acceptable JSON: \(what) (at byte \(position) of the body).")
    }

    private func unexpected(_ wanted: String) -> RequestFault {
        position < bytes.count
            ? .badRequest("The body is not JSON: \(wanted) is missing at byte \(position).")
            : .badRequest("The body is not JSON: it ends where \(wanted) should be.")
    }
}
