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
        guard skip("{") else {
            throw .badRequest("The body is not a JSON object; send one with at least the member \"bundle\".")
        }
        skipWhitespace()
        if !skip("}") {
            repeat {
                skipWhitespace()
                try decodeMember(into: &client)
                skipWhitespace()
            } while skip(",")
            guard skip("}") else { throw unexpected("a comma or the closing brace") }
        }
        skipWhitespace()
        guard position == bytes.count else { throw unexpected("the end of the body") }
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
        let name = try decodeName(into: &client)
        let value = try decodeValue(depth: 2, into: &client)
        do throws(ClientError) {
            try client.setMember(at: name, to: value)
        } catch {
            throw fault(error, first)
        }
    }

    private func fault(_ error: ClientError, _ position: Int) -> RequestFault {
        .badRequest("\(error) (at byte \(position) of the body)")
    }

    /// Where a part of the body is among the bytes of the client.
    @inline(__always)
    private func moved(_ range: Range<Int>) -> Range<Int> {
        Range(uncheckedBounds: (start &+ range.lowerBound, start &+ range.upperBound))
    }

    // MARK: Values, each with its text among the bytes of the client

    /// Reads the name of a member, and the colon behind it.
    private mutating func decodeName(into client: inout Client) throws(RequestFault) -> Range<Int> {
        guard peek == UInt8(ascii: "\"") else { throw unexpected("a member's name in double quotes") }
        let name = try decodeString(into: &client)
        skipWhitespace()
        guard skip(":") else { throw unexpected("a colon") }
        skipWhitespace()
        return name
    }

    /// - Parameter depth: How deep the value is, if it is an object or an array.
    private mutating func decodeValue(depth: Int, into client: inout Client) throws(RequestFault)
        -> MemberRange
    {
        switch peek {
        case UInt8(ascii: "\""): return .text(try decodeString(into: &client))
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
            try decodeComposite(depth: depth, into: &client)
            return .composite
        default: return .number(try decodeNumber())
        }
    }

    private mutating func decodeNumber() throws(RequestFault) -> Range<Int> {
        let first = position
        skip("-")
        if !skip("0") { try skipDigits(from: first) }
        if skip(".") { try skipDigits(from: first) }
        if skip("e") || skip("E") {
            if !skip("+") { skip("-") }
            try skipDigits(from: first)
        }
        return moved(first..<position)
    }

    private mutating func skipDigits(from start: Int) throws(RequestFault) {
        let first = position
        while let byte = peek, byte &- UInt8(ascii: "0") < 10 { position += 1 }
        if position == first {
            throw first == start ? unexpected("a JSON value") : fault("a number is not complete")
        }
    }

    private mutating func skipLiteral(_ literal: StaticString) throws(RequestFault) {
        for index in 0..<literal.utf8CodeUnitCount {
            guard peek == literal.utf8Start[index] else { throw unexpected("\(literal)") }
            position += 1
        }
    }

    private mutating func decodeComposite(depth: Int, into client: inout Client) throws(RequestFault) {
        guard depth <= Self.maximumDepth else {
            throw fault("objects and arrays are nested deeper than \(Self.maximumDepth)")
        }
        let isObject = skip("{")
        if !isObject { skip("[") }
        skipWhitespace()
        if skip(isObject ? "}" : "]") { return }
        repeat {
            skipWhitespace()
            if isObject { _ = try decodeName(into: &client) }
            _ = try decodeValue(depth: depth + 1, into: &client)
            skipWhitespace()
        } while skip(",")
        guard skip(isObject ? "}" : "]") else {
            throw unexpected("a comma or the end of the \(isObject ? "object" : "array")")
        }
    }

    // MARK: Strings

    private mutating func decodeString(into client: inout Client) throws(RequestFault) -> Range<Int> {
        let first = position
        position += 1
        var isASCII = true
        /// What it is up to `copied`, where it has escapes.
        var resolved: [UInt8]?
        var copied = position
        while true {
            position = bytes.end(of: .plainJSON, from: position)
            guard let byte = peek else {
                throw .badRequest("The body ends inside a string that begins at byte \(first).")
            }
            switch byte {
            case UInt8(ascii: "\""):
                let rest = bytes.part(copied, position)
                resolved?.append(contentsOf: rest)
                position += 1
                guard isASCII || String(validating: resolved ?? Array(rest), as: UTF8.self) != nil else {
                    throw .badRequest("The string that begins at byte \(first) of the body is not valid UTF-8.")
                }
                return resolved.map { text in text.withUnsafeBytes { client.append($0) } }
                    ?? moved(copied..<(position - 1))
            case UInt8(ascii: "\\"):
                if resolved == nil { resolved = [] }
                resolved?.append(contentsOf: bytes.part(copied, position))
                position += 1
                resolved?.append(contentsOf: try decodeEscape().utf8)
                copied = position
            case 0..<0x20: throw fault("a string has a control character that is not escaped")
            default:
                isASCII = false
                position += 1
            }
        }
    }

    /// Reads what follows a backslash.
    private mutating func decodeEscape() throws(RequestFault) -> Unicode.Scalar {
        guard let escape = peek else { throw .badRequest("The body ends inside an escape sequence.") }
        position += 1
        switch escape {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(escape)
        case UInt8(ascii: "b"): return "\u{08}"
        case UInt8(ascii: "f"): return "\u{0C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return try decodeUnicodeEscape()
        default:
            position -= 1
            throw fault("a backslash is followed by a character that JSON does not know as an escape")
        }
    }

    /// Reads what follows `\\u`, both halves of a surrogate pair if it is one.
    private mutating func decodeUnicodeEscape() throws(RequestFault) -> Unicode.Scalar {
        let high = try decodeHexadecimal()
        if high == 0 { throw fault("a string has the character U+0000, which is not allowed") }
        if let scalar = Unicode.Scalar(high) { return scalar }
        if high < 0xDC00, position + 1 < bytes.count, bytes[position] == UInt8(ascii: "\\"),
            bytes[position + 1] == UInt8(ascii: "u")
        {
            position += 2
            let low = try decodeHexadecimal()
            if (0xDC00..<0xE000).contains(low),
                let scalar = Unicode.Scalar(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))
            {
                return scalar
            }
        }
        throw fault("a string has half of a surrogate pair")
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

    // MARK: Single bytes

    @inline(__always)
    private var peek: UInt8? {
        position < bytes.count ? bytes[position] : nil
    }

    /// Skips a character where it is the next one.
    @inline(__always)
    @discardableResult
    private mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard position < bytes.count, bytes[position] == UInt8(ascii: character) else { return false }
        position &+= 1
        return true
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
