// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import NIOCore
import UpdatePolicy

/// The value of the `Date` header, made anew at most once a second.
///
/// Format: IMF-fixdate of [RFC 9110, 5.6.7](https://www.rfc-editor.org/rfc/rfc9110#section-5.6.7).
struct HTTPDate {
    private var second: Int64 = .min
    private var text: [UInt8] = []

    /// Writes the date of a time.
    mutating func write(to buffer: inout ByteBuffer, at now: Timestamp) {
        let second = now.microsecondsSince1970 / 1_000_000
        if second != self.second {
            self.second = second
            text = Array(Self.format(second).utf8)
        }
        buffer.writeBytes(text)
    }

    /// The date of a count of seconds since 1970.
    ///
    /// Days to civil date: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms".
    static func format(_ secondsSince1970: Int64) -> String {
        let days = Int((Double(secondsSince1970) / 86_400).rounded(.down))
        let secondOfDay = Int(secondsSince1970) - days * 86_400
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        let weekday = ((days + 4) % 7 + 7) % 7
        return """
            \(weekdays[weekday]), \(twoDigits(day)) \(months[month - 1]) \(year) \
            \(twoDigits(secondOfDay / 3600)):\(twoDigits(secondOfDay / 60 % 60)):\(twoDigits(secondOfDay % 60)) GMT
            """
    }

    private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    private static func twoDigits(_ number: Int) -> String {
        number < 10 ? "0\(number)" : "\(number)"
    }
}
