import UpdatePolicy

extension CheckBodyDecoder {
    mutating func decodeValue() throws(RequestFault) -> Value {
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
}
