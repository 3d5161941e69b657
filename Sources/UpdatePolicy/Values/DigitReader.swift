/// A reader of fixed-width decimal fields, as dates and times have them.
struct DigitReader {
    private let bytes: [UInt8]
    private var position = 0

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    var isAtEnd: Bool { position == bytes.count }

    /// Reads a number of exactly `digits` digits.
    mutating func number(digits: Int) -> Int64? {
        guard position + digits <= bytes.count else { return nil }
        var value: Int64 = 0
        for byte in bytes[position..<position + digits] {
            guard ASCII.isDigit(byte) else { return nil }
            value = value * 10 + Int64(byte - ASCII.zero)
        }
        position += digits
        return value
    }

    /// Reads one to `digits` digits behind a decimal point, as a number of units of the last of them.
    mutating func fraction(digits: Int) -> Int64? {
        var value: Int64 = 0
        var count = 0
        while position < bytes.count, ASCII.isDigit(bytes[position]) {
            guard count < digits else { return nil }
            value = value * 10 + Int64(bytes[position] - ASCII.zero)
            count += 1
            position += 1
        }
        guard count > 0 else { return nil }
        for _ in count..<digits { value *= 10 }
        return value
    }

    /// Reads an offset from UTC (`Z`, `+01:00`, `+0100`, `+01`), in seconds.
    mutating func offset() -> Int64? {
        if skip("Z") || skip("z") { return 0 }
        let isNegative: Bool
        if skip("+") {
            isNegative = false
        } else if skip("-") {
            isNegative = true
        } else {
            return nil
        }
        guard let hours = number(digits: 2), hours < 24 else { return nil }
        var minutes: Int64 = 0
        if !isAtEnd {
            _ = skip(":")
            guard let value = number(digits: 2), value < 60 else { return nil }
            minutes = value
        }
        let seconds = hours * 3600 + minutes * 60
        return isNegative ? -seconds : seconds
    }

    /// Reads this character if it is the next one.
    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard position < bytes.count, bytes[position] == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }
}
