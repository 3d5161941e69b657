/// A length of time from days to seconds, in whole days and what is left of one, as the database stores it. A day is 24
/// hours.
package struct DayTimeInterval: Sendable, Hashable {
    /// The microseconds beyond the days, of the same sign and less than a day.
    package let microseconds: Int64
    /// Whole days.
    package let days: Int32

    private static let day: Int64 = 86_400_000_000

    /// A length of time of days and microseconds.
    package init(days: Int32, microseconds: Int64) {
        var (whole, rest) = microseconds.quotientAndRemainder(dividingBy: Self.day)
        whole += Int64(days)
        if whole > 0, rest < 0 { (whole, rest) = (whole - 1, rest + Self.day) }
        if whole < 0, rest > 0 { (whole, rest) = (whole + 1, rest - Self.day) }
        self.days = Int32(clamping: whole)
        self.microseconds = rest
    }

    /// A length of time without days.
    package init(microseconds: Int64) {
        self.init(days: 0, microseconds: microseconds)
    }

    /// The whole length in microseconds, as far as 64 bits can hold it. A day is 24 hours.
    package var inMicroseconds: Int64 {
        let (product, overflow) = Int64(days).multipliedReportingOverflow(by: Self.day)
        let (sum, overflowOfSum) = product.addingReportingOverflow(microseconds)
        return overflow || overflowOfSum ? (days < 0 ? .min : .max) : sum
    }

    /// Reads `2 days`, `36h`, `1 day 12 hours 30 min`, `1d12h`, `12:30:00`.
    ///
    /// Units are weeks, days, hours, minutes and seconds, also by their first letter; each number may have a sign, and
    /// only seconds have decimals, up to six. Anything else is nil.
    package init?(_ text: String) {
        var reader = DayTimeIntervalReader(text)
        guard let time = reader.read() else { return nil }
        self = time
    }
}

extension DayTimeInterval: CustomStringConvertible {
    /// The time in units that PostgreSQL reads too: `2 days`, `1 day 12 hours`, `1.5 seconds`.
    package var description: String {
        var parts: [String] = []
        if days != 0 { parts.append(Self.part(String(days), "day")) }
        let (seconds, fraction) = microseconds.magnitude.quotientAndRemainder(dividingBy: 1_000_000)
        let sign = microseconds < 0 ? "-" : ""
        if seconds / 3600 != 0 { parts.append(Self.part("\(sign)\(seconds / 3600)", "hour")) }
        if seconds / 60 % 60 != 0 { parts.append(Self.part("\(sign)\(seconds / 60 % 60)", "minute")) }
        if fraction != 0 {
            var digits = String(fraction)
            digits = String(repeating: "0", count: 6 - digits.count) + digits
            while digits.hasSuffix("0") { digits.removeLast() }
            parts.append("\(sign)\(seconds % 60).\(digits) seconds")
        } else if seconds % 60 != 0 {
            parts.append(Self.part("\(sign)\(seconds % 60)", "second"))
        }
        return parts.isEmpty ? "0 seconds" : parts.joined(separator: " ")
    }

    private static func part(_ number: String, _ unit: String) -> String {
        "\(number) \(unit)\(number == "1" || number == "-1" ? "" : "s")"
    }
}

/// Reads the text of a length of time, unit by unit.
private struct DayTimeIntervalReader {
    private var rest: Substring
    private var days: Int64 = 0
    private var microseconds: Int64 = 0

    init(_ text: String) {
        rest = text[...]
    }

    /// The time, nil if the text is none or the time is too long to hold.
    mutating func read() -> DayTimeInterval? {
        skipBlanks()
        guard !rest.isEmpty else { return nil }
        while !rest.isEmpty {
            guard readPart() else { return nil }
            skipBlanks()
        }
        guard let days = Int32(exactly: days) else { return nil }
        return DayTimeInterval(days: days, microseconds: microseconds)
    }

    private mutating func readPart() -> Bool {
        let isNegative = rest.first == "-"
        if rest.first == "-" || rest.first == "+" { rest.removeFirst() }
        guard let whole = readDigits(), let number = Int64(whole) else { return false }
        if rest.first == ":" { return readClock(hours: number, isNegative: isNegative) }
        var fraction: Int64?
        if rest.first == "." {
            guard let micros = readFraction() else { return false }
            fraction = micros
        }
        skipBlanks()
        let letters = rest.prefix { $0.isASCII && $0.isLetter }
        rest = rest[letters.endIndex...]
        let sign: Int64 = isNegative ? -1 : 1
        switch (letters.lowercased(), fraction) {
        case ("w", nil), ("week", nil), ("weeks", nil): return add(number, times: 7 * sign, to: \.days)
        case ("d", nil), ("day", nil), ("days", nil): return add(number, times: sign, to: \.days)
        case ("h", nil), ("hr", nil), ("hrs", nil), ("hour", nil), ("hours", nil):
            return add(number, times: sign * 3_600_000_000, to: \.microseconds)
        case ("m", nil), ("min", nil), ("mins", nil), ("minute", nil), ("minutes", nil):
            return add(number, times: sign * 60_000_000, to: \.microseconds)
        case ("s", _), ("sec", _), ("secs", _), ("second", _), ("seconds", _):
            return add(number, times: sign * 1_000_000, to: \.microseconds)
                && add(fraction ?? 0, times: sign, to: \.microseconds)
        default: return false
        }
    }

    /// Reads what follows the hours of `12:30` or `12:30:15.25`.
    private mutating func readClock(hours: Int64, isNegative: Bool) -> Bool {
        rest.removeFirst()
        guard let minutes = readDigits().flatMap({ Int64($0) }), minutes < 60 else { return false }
        var seconds: Int64 = 0
        var fraction: Int64 = 0
        if rest.first == ":" {
            rest.removeFirst()
            guard let value = readDigits().flatMap({ Int64($0) }), value < 60 else { return false }
            seconds = value
            if rest.first == "." {
                guard let value = readFraction() else { return false }
                fraction = value
            }
        }
        let sign: Int64 = isNegative ? -1 : 1
        return add(hours, times: sign * 3_600_000_000, to: \.microseconds)
            && add(minutes * 60 + seconds, times: sign * 1_000_000, to: \.microseconds)
            && add(fraction, times: sign, to: \.microseconds)
    }

    private mutating func readDigits() -> Substring? {
        let digits = rest.prefix { $0.isASCII && $0.isNumber }
        rest = rest[digits.endIndex...]
        return digits.isEmpty ? nil : digits
    }

    /// Reads a point and up to six digits as microseconds.
    private mutating func readFraction() -> Int64? {
        rest.removeFirst()
        guard let digits = readDigits(), digits.count <= 6 else { return nil }
        return Int64(digits + String(repeating: "0", count: 6 - digits.count))
    }

    private mutating func add(_ number: Int64, times factor: Int64, to total: WritableKeyPath<Self, Int64>) -> Bool {
        let (product, overflow) = number.multipliedReportingOverflow(by: factor)
        let (sum, overflowOfSum) = self[keyPath: total].addingReportingOverflow(product)
        self[keyPath: total] = sum
        return !overflow && !overflowOfSum
    }

    private mutating func skipBlanks() {
        rest = rest.drop { $0 == " " }
    }
}
