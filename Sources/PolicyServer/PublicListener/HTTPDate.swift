// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Glibc
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
    static func format(_ secondsSince1970: Int64) -> String {
        var seconds = time_t(secondsSince1970)
        var date = tm()
        gmtime_r(&seconds, &date)
        return """
            \(weekdays[Int(date.tm_wday)]), \(twoDigits(date.tm_mday)) \(months[Int(date.tm_mon)]) \(date.tm_year + 1900) \
            \(twoDigits(date.tm_hour)):\(twoDigits(date.tm_min)):\(twoDigits(date.tm_sec)) GMT
            """
    }

    private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    private static func twoDigits(_ number: Int32) -> String {
        number < 10 ? "0\(number)" : "\(number)"
    }
}
