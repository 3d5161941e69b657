/// A length of time from days to seconds, in whole days and what is left of one, as the database stores it. A day is 24
/// hours.
package struct DayTimeInterval: Sendable, Hashable {
    /// The microseconds beyond the days, of the same sign and less than a day.
    package let microseconds: Int64
    package let days: Int32

    private static let day: Int64 = 86_400_000_000

    package init(days: Int32, microseconds: Int64) {
        var (whole, rest) = microseconds.quotientAndRemainder(dividingBy: Self.day)
        whole += Int64(days)
        if whole > 0, rest < 0 { (whole, rest) = (whole - 1, rest + Self.day) }
        if whole < 0, rest > 0 { (whole, rest) = (whole + 1, rest - Self.day) }
        self.days = Int32(clamping: whole)
        self.microseconds = rest
    }

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
        var reader = DayTimeIntervalReader()
        guard let time = reader.read(text) else { return nil }
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

private struct DayTimeIntervalReader {
    private var days: Int64 = 0
    private var microseconds: Int64 = 0

    /// The time, nil if the text is none or the time is too long to hold.
    mutating func read(_ text: String) -> DayTimeInterval? {
        var rest = text[...].drop { $0 == " " }
        guard !rest.isEmpty else { return nil }
        while !rest.isEmpty {
            guard let end = readClock(rest) ?? readPart(rest) else { return nil }
            rest = rest[end...].drop { $0 == " " }
        }
        guard let days = Int32(exactly: days) else { return nil }
        return DayTimeInterval(days: days, microseconds: microseconds)
    }

    /// Reads a number and its unit at the beginning of a text, and tells where they end.
    private mutating func readPart(_ text: Substring) -> String.Index? {
        let part = /([-+]?)([0-9]+)(?:\.([0-9]+))? *([A-Za-z]+)/
        guard let match = text.prefixMatch(of: part), let number = Int64(match.2) else { return nil }
        let sign: Int64 = match.1 == "-" ? -1 : 1
        let isRead =
            switch (match.4.lowercased(), match.3) {
            case ("w", nil), ("week", nil), ("weeks", nil): add(number, times: 7 * sign, to: \.days)
            case ("d", nil), ("day", nil), ("days", nil): add(number, times: sign, to: \.days)
            case ("h", nil), ("hr", nil), ("hrs", nil), ("hour", nil), ("hours", nil):
                add(number, times: sign * 3_600_000_000, to: \.microseconds)
            case ("m", nil), ("min", nil), ("mins", nil), ("minute", nil), ("minutes", nil):
                add(number, times: sign * 60_000_000, to: \.microseconds)
            case ("s", let fraction), ("sec", let fraction), ("secs", let fraction), ("second", let fraction),
                ("seconds", let fraction):
                add(number, times: sign * 1_000_000, to: \.microseconds) && add(fraction: fraction, sign)
            default: false
            }
        return isRead ? match.range.upperBound : nil
    }

    /// Reads `12:30` or `12:30:15.25` at the beginning of a text, and tells where it ends.
    private mutating func readClock(_ text: Substring) -> String.Index? {
        let clock = /([-+]?)([0-9]+):([0-9]+)(?::([0-9]+)(?:\.([0-9]+))?)?/
        guard let match = text.prefixMatch(of: clock), let hours = Int64(match.2), let minutes = Int64(match.3),
            let seconds = Int64(match.4 ?? "0"), minutes < 60, seconds < 60
        else { return nil }
        let sign: Int64 = match.1 == "-" ? -1 : 1
        let isRead =
            add(hours, times: sign * 3_600_000_000, to: \.microseconds)
            && add(minutes * 60 + seconds, times: sign * 1_000_000, to: \.microseconds)
            && add(fraction: match.5, sign)
        return isRead ? match.range.upperBound : nil
    }

    /// Adds the decimals of a second, up to six.
    private mutating func add(fraction digits: Substring?, _ sign: Int64) -> Bool {
        guard let digits else { return true }
        guard digits.count <= 6, let micros = Int64(digits + String(repeating: "0", count: 6 - digits.count)) else {
            return false
        }
        return add(micros, times: sign, to: \.microseconds)
    }

    private mutating func add(_ number: Int64, times factor: Int64, to total: WritableKeyPath<Self, Int64>) -> Bool {
        let (product, overflow) = number.multipliedReportingOverflow(by: factor)
        let (sum, overflowOfSum) = self[keyPath: total].addingReportingOverflow(product)
        self[keyPath: total] = sum
        return !overflow && !overflowOfSum
    }
}
