// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// How long a release must have been live: days and a time of day's units, as PostgreSQL keeps them apart.
///
/// A day is 24 hours wherever the time counts, but `1 day` and `24 hours` are shown as they were written.
public struct SoakTime: Sendable, Hashable {
    /// Whole days.
    public let days: Int32
    /// What comes on top of the days, in microseconds.
    public let microseconds: Int64

    /// Days and microseconds on top of them.
    public init(days: Int32, microseconds: Int64) {
        self.days = days
        self.microseconds = microseconds
    }

    /// Reads `2 days`, `36h`, `1 day 12 hours 30 min`, `1d12h`, `12:30:00`.
    ///
    /// Units are weeks, days, hours, minutes and seconds, also by their first letter; each number may have a sign, and
    /// only seconds have decimals, up to six. Anything else is nil.
    public init?(_ text: String) {
        var reader = SoakTimeReader(text)
        guard let time = reader.read() else { return nil }
        self = time
    }
}

extension SoakTime: CustomStringConvertible {
    /// The time in units that PostgreSQL reads too: `2 days`, `1 day 12 hours`, `1.5 seconds`.
    public var description: String {
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
