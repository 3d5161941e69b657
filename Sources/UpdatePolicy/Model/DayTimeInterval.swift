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
        var rest = text[...].drop { $0 == " " }
        guard !rest.isEmpty else { return nil }
        // Wide enough for as many numbers of 64 bits as a text can have.
        var sum: Int128 = 0
        while !rest.isEmpty {
            guard let (microseconds, end) = Self.clock(rest) ?? Self.part(rest) else { return nil }
            sum += microseconds
            rest = rest[end...].drop { $0 == " " }
        }
        let (days, microseconds) = sum.quotientAndRemainder(dividingBy: Int128(Self.day))
        guard let days = Int32(exactly: days) else { return nil }
        self.init(days: days, microseconds: Int64(microseconds))
    }

    /// Reads a number and its unit at the beginning of a text.
    private static func part(_ text: Substring) -> (microseconds: Int128, end: String.Index)? {
        let part = /([-+]?)([0-9]+)(?:\.([0-9]+))? *([A-Za-z]+)/
        guard let match = text.prefixMatch(of: part), let number = Int64(match.2),
            let unit = units[match.4.lowercased()], match.3 == nil || unit == 1_000_000,
            let fraction = millionths(match.3)
        else { return nil }
        let length = Int128(number) * unit + fraction
        return (match.1 == "-" ? -length : length, match.range.upperBound)
    }

    /// Reads `12:30` or `12:30:15.25` at the beginning of a text.
    private static func clock(_ text: Substring) -> (microseconds: Int128, end: String.Index)? {
        let clock = /([-+]?)([0-9]+):([0-9]+)(?::([0-9]+)(?:\.([0-9]+))?)?/
        guard let match = text.prefixMatch(of: clock), let hours = Int64(match.2), let minutes = Int64(match.3),
            let seconds = Int64(match.4 ?? "0"), minutes < 60, seconds < 60, let fraction = millionths(match.5)
        else { return nil }
        let length = (Int128(hours) * 3600 + Int128(minutes * 60 + seconds)) * 1_000_000 + fraction
        return (match.1 == "-" ? -length : length, match.range.upperBound)
    }

    /// The decimals of a second in microseconds; `nil` where they are more than six.
    private static func millionths(_ decimals: Substring?) -> Int128? {
        let decimals = decimals ?? "0"
        return decimals.count > 6 ? nil : Int128(decimals + String(repeating: "0", count: 6 - decimals.count))
    }

    /// The microseconds of each unit.
    private static let units = Dictionary(
        uniqueKeysWithValues: [
            ("w week weeks", 604_800), ("d day days", 86_400), ("h hr hrs hour hours", 3_600),
            ("m min mins minute minutes", 60), ("s sec secs second seconds", 1),
        ].flatMap { names, seconds in names.split(separator: " ").map { (String($0), Int128(seconds) * 1_000_000) } }
    )
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
        if seconds % 60 != 0 || fraction != 0 {
            parts.append(Self.part(sign + NumberText.decimal(seconds % 60, millionths: fraction), "second"))
        }
        return parts.isEmpty ? "0 seconds" : parts.joined(separator: " ")
    }

    private static func part(_ number: String, _ unit: String) -> String {
        "\(number) \(unit)\(number == "1" || number == "-1" ? "" : "s")"
    }
}
