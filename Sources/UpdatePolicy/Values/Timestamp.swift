/// A moment in time, in whole microseconds.
///
/// Microseconds are what PostgreSQL keeps, so a time from the database loses nothing here.
package struct Timestamp: Sendable, Hashable, Comparable {
    /// Microseconds since 1970-01-01T00:00:00Z, negative before it; leap seconds do not count.
    package let microsecondsSince1970: Int64

    /// A moment by its microseconds since 1970-01-01T00:00:00Z; negative before it.
    package init(microsecondsSince1970: Int64) {
        self.microsecondsSince1970 = microsecondsSince1970
    }

    static let earliest = Timestamp(microsecondsSince1970: .min)

    static let latest = Timestamp(microsecondsSince1970: .max)

    /// A moment by its seconds since 1970-01-01T00:00:00Z; negative before it.
    ///
    /// Seconds beyond what microseconds in 64 bits can hold (some 292,000 years) become the last moment that can be held.
    package init(secondsSince1970: Int64) {
        let (product, overflow) = secondsSince1970.multipliedReportingOverflow(by: 1_000_000)
        microsecondsSince1970 = overflow ? (secondsSince1970 < 0 ? .min : .max) : product
    }

    /// The moment that lies `microseconds` later; earlier where that is negative.
    package func advanced(byMicroseconds microseconds: Int64) -> Timestamp {
        let (sum, overflow) = microsecondsSince1970.addingReportingOverflow(microseconds)
        return Timestamp(microsecondsSince1970: overflow ? (microseconds < 0 ? .min : .max) : sum)
    }

    package static func < (left: Timestamp, right: Timestamp) -> Bool {
        left.microsecondsSince1970 < right.microsecondsSince1970
    }
}

extension Timestamp: CustomStringConvertible {
    /// The day in UTC, the second of that day, and the microseconds beyond it.
    package var parts: (date: CivilDate, second: Int64, fraction: Int64) {
        let seconds = microsecondsSince1970.flooredQuotient(by: 1_000_000)
        let days = seconds.flooredQuotient(by: 86400)
        return (CivilDate(daysSince1970: days), seconds - days * 86400, microsecondsSince1970 - seconds * 1_000_000)
    }

    /// The moment in ISO 8601, in UTC: `2026-03-01T12:00:00Z`, with six digits of a fraction only where it is not zero.
    package var description: String {
        let (date, second, fraction) = parts
        var text = date.year < 0 ? "-" : ""
        let fields = [(date.year, 4, "-"), (date.month, 2, "-"), (date.day, 2, "T")]
        let times = [(second / 3600, 2, ":"), (second / 60 % 60, 2, ":"), (second % 60, 2, "")]
        for (number, width, separator) in fields + times {
            text += String(number.magnitude, padded: width) + separator
        }
        return text + (fraction == 0 ? "Z" : ".\(String(fraction, padded: 6))Z")
    }

    /// The day in UTC: `2026-03-01`; for the years 0 to 9999, which are all that a policy has.
    var day: String { String(description.prefix(10)) }

    /// How far the moment is from now: `in 2 h`, `2 min ago`; nil where that is more than can be told.
    package func distance(from now: Timestamp) -> String? {
        let (distance, overflow) = microsecondsSince1970.subtractingReportingOverflow(now.microsecondsSince1970)
        if overflow { return nil }
        let text = NumberText.duration(microseconds: Int64(clamping: distance.magnitude))
        return distance < 0 ? "\(text) ago" : "in \(text)"
    }

    /// Reads a moment in ISO 8601: `2026-03-01T12:00:00.25+01:00`.
    ///
    /// The offset is required (`Z`, `+01:00`, `+0100` or `+01`): without it the moment is ambiguous.
    /// Seconds may be left out, their fraction has one to six digits, and a space may stand for the `T`.
    /// Anything else, and a date that does not exist, is `nil`.
    package init?(_ text: String) {
        let clock = /([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]{1,6}))?)?/
        let offset = /[Zz]|([-+])([0-9]{2})(?::?([0-9]{2}))?/
        guard let day = text.prefixMatch(of: /([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt ]/),
            let time = text[day.range.upperBound...].prefixMatch(of: clock),
            let zone = text[time.range.upperBound...].wholeMatch(of: offset)
        else { return nil }
        func number(_ digits: Substring?) -> Int64 { digits.flatMap { Int64($0) } ?? 0 }
        let (hour, minute, second) = (number(time.1), number(time.2), number(time.3))
        let (offsetHour, offsetMinute) = (number(zone.2), number(zone.3))
        guard hour < 24, minute < 60, second < 60, offsetHour < 24, offsetMinute < 60,
            let date = CivilDate(year: number(day.1), month: number(day.2), day: number(day.3))
        else { return nil }
        let east = (offsetHour * 3600 + offsetMinute * 60) * (zone.1 == "-" ? -1 : 1)
        let seconds = date.daysSince1970 * 86400 + hour * 3600 + minute * 60 + second - east
        let fraction = (time.4 ?? "") + String(repeating: "0", count: 6 - (time.4?.count ?? 0))
        self.init(microsecondsSince1970: seconds * 1_000_000 + number(fraction))
    }
}

extension Timestamp: Codable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let timestamp = Timestamp(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "not a time in ISO 8601 with an offset"
            )
        }
        self = timestamp
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
