/// Reads JSON from bytes that are UTF-8.
struct JSONReader {
    private struct NoJSON: Error {}

    private let bytes: [UInt8]
    private var place = 0

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    var isAtEnd: Bool { place == bytes.count }

    /// A value and the blanks around it.
    mutating func value(depth: Int) throws -> JSONValue {
        guard depth <= 512 else { throw NoJSON() }
        skipBlanks()
        defer { skipBlanks() }
        switch next {
        case UInt8(ascii: "{"): return try object(depth: depth)
        case UInt8(ascii: "["): return try array(depth: depth)
        case UInt8(ascii: "\""): return try string().map(JSONValue.string) ?? .brokenString
        default: break
        }
        if take("true") { return .boolean(true) }
        if take("false") { return .boolean(false) }
        if take("null") { return .null }
        return .number(try number())
    }

    private mutating func object(depth: Int) throws -> JSONValue {
        var members: [String: JSONValue] = [:]
        place += 1
        skipBlanks()
        if take("}") { return .object(members) }
        repeat {
            skipBlanks()
            guard next == UInt8(ascii: "\"") else { throw NoJSON() }
            let name = try string()
            skipBlanks()
            guard take(":") else { throw NoJSON() }
            let value = try value(depth: depth + 1)
            if let name { members[name] = value }
        } while take(",")
        guard take("}") else { throw NoJSON() }
        return .object(members)
    }

    private mutating func array(depth: Int) throws -> JSONValue {
        var elements: [JSONValue] = []
        place += 1
        skipBlanks()
        if take("]") { return .array(elements) }
        repeat { elements.append(try value(depth: depth + 1)) } while take(",")
        guard take("]") else { throw NoJSON() }
        return .array(elements)
    }

    /// A string; nil if a surrogate stands alone in it.
    private mutating func string() throws -> String? {
        place += 1
        var text: [UInt8] = []
        var isBroken = false
        while !take("\"") {
            guard let byte = next, byte >= 0x20 else { throw NoJSON() }
            place += 1
            guard byte == UInt8(ascii: "\\") else {
                text.append(byte)
                continue
            }
            if let scalar = try escape() { text += Array(String(scalar).utf8) } else { isBroken = true }
        }
        return isBroken ? nil : String(decoding: text, as: UTF8.self)
    }

    /// What stands for a character behind a backslash; nil for a surrogate that stands alone.
    private mutating func escape() throws -> Unicode.Scalar? {
        guard let kind = next else { throw NoJSON() }
        place += 1
        switch kind {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(kind)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): break
        default: throw NoJSON()
        }
        let first = try unit()
        guard UTF16.isLeadSurrogate(first) else { return Unicode.Scalar(first) }
        let before = place
        if take("\\u") {
            let second = try unit()
            if UTF16.isTrailSurrogate(second) { return UTF16.decode(UTF16.EncodedScalar([first, second])) }
            place = before
        }
        return nil
    }

    /// Four hexadecimal digits.
    private mutating func unit() throws -> UInt16 {
        guard place + 4 <= bytes.count else { throw NoJSON() }
        var unit: UInt16 = 0
        for byte in bytes[place..<place + 4] {
            guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { throw NoJSON() }
            unit = unit << 4 | UInt16(digit)
        }
        place += 4
        return unit
    }

    private mutating func number() throws -> Double {
        let start = place
        _ = take("-")
        if !take("0") { try digits() }
        if take(".") { try digits() }
        if take("e") || take("E") {
            if !take("+") { _ = take("-") }
            try digits()
        }
        guard let number = Double(String(decoding: bytes[start..<place], as: UTF8.self)) else { throw NoJSON() }
        return number
    }

    private mutating func digits() throws {
        let start = place
        while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { place += 1 }
        guard place > start else { throw NoJSON() }
    }

    private mutating func skipBlanks() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { place += 1 }
    }

    private var next: UInt8? { place < bytes.count ? bytes[place] : nil }

    private mutating func take(_ word: StaticString) -> Bool {
        let count = word.utf8CodeUnitCount
        guard place + count <= bytes.count else { return false }
        for index in 0..<count where bytes[place + index] != word.utf8Start[index] { return false }
        place += count
        return true
    }
}
