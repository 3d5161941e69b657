// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import UpdatePolicy

/// Writes times for people.
///
/// A time is always spelled in the same way: in ISO 8601, to the second, with the offset of the local time zone. So it says
/// what it is wherever it is copied to, and every option that takes a time can read it.
enum TimeText {
    /// A time: `2026-03-01T13:00:00+01:00`.
    static func local(_ time: Timestamp) -> String {
        let seconds = time.microsecondsSince1970.flooredQuotient(by: 1_000_000)
        let offset = LocalTime.offset(at: seconds)
        let digits = Timestamp(secondsSince1970: seconds + offset).description.dropLast()
        guard offset != 0 else { return "\(digits)Z" }
        let (hours, minutes) = (abs(offset) / 60).quotientAndRemainder(dividingBy: 60)
        return "\(digits)\(offset < 0 ? "-" : "+")\(twoDigits(hours)):\(twoDigits(minutes))"
    }

    /// A time, and how far it is from now: `2026-03-01T13:00:00+01:00 (in 2 h)`.
    static func local(_ time: Timestamp, from now: Timestamp) -> String {
        distance(of: time, from: now).map { "\(local(time)) (\($0))" } ?? local(time)
    }

    /// How far a time is from now: `in 2 h`, `2 min ago`; nil where that is more than can be told.
    static func distance(of time: Timestamp, from now: Timestamp) -> String? {
        let (distance, overflow) = time.microsecondsSince1970.subtractingReportingOverflow(now.microsecondsSince1970)
        if overflow { return nil }
        let text = duration(microseconds: Int64(clamping: distance.magnitude))
        return distance < 0 ? "\(text) ago" : "in \(text)"
    }

    /// A text of the database with its times, which are words of it, as people read them.
    static func sentence(_ text: String) -> String {
        text.split(separator: " ", omittingEmptySubsequences: false).map { word in
            Timestamp(String(word)).map { local($0) } ?? String(word)
        }.joined(separator: " ")
    }

    /// A duration in its two largest units, rounded, from two years on in years: `2 d 5 h`, `1 h 30 min`, `12 min`, `40 s`.
    static func duration(microseconds: Int64) -> String {
        var seconds = microseconds / 1_000_000
        let step: Int64 = seconds < 60 ? 1 : seconds < 86_400 ? 60 : 3_600
        seconds = (seconds + step / 2) / step * step
        let days = seconds / 86_400
        if days >= 730 { return "\(days / 365) y" }
        let units = [
            (days, "d"), (seconds / 3_600 % 24, "h"), (seconds / 60 % 60, "min"), (seconds % 60, "s"),
        ]
        let shown = units.filter { $0.0 > 0 }.prefix(2).map { "\($0) \($1)" }
        return shown.isEmpty ? "0 s" : shown.joined(separator: " ")
    }

    private static func twoDigits(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
