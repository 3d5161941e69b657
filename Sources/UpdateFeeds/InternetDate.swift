package import UpdatePolicy

/// A time as appcasts and HTTP write it: `Sun, 01 Mar 2026 12:00:00 GMT`.
///
/// Format: IMF-fixdate of [RFC 9110, 5.6.7](https://www.rfc-editor.org/rfc/rfc9110#section-5.6.7).
package enum InternetDate {
    private static let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// A time of UTC.
    ///
    /// - Parameter zone: What stands for UTC.
    package static func text(_ time: Timestamp, zone: String) -> String {
        let (date, second, _) = time.parts
        let days = date.daysSince1970
        let weekday = weekdays[Int(days - days.flooredQuotient(by: 7) * 7)]
        let clock = [second / 3600, second / 60 % 60, second % 60].map { String($0, padded: 2) }.joined(separator: ":")
        return "\(weekday), \(String(date.day, padded: 2)) \(months[Int(date.month) - 1]) \(date.year) \(clock) \(zone)"
    }
}
