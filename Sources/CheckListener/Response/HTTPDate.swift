import UpdatePolicy

/// The value of the `Date` header.
///
/// Format: IMF-fixdate of [RFC 9110, 5.6.7](https://www.rfc-editor.org/rfc/rfc9110#section-5.6.7).
enum HTTPDate {
    /// The second since 1970 that a time is in.
    static func second(of time: Timestamp) -> Int64 {
        time.microsecondsSince1970.flooredQuotient(by: 1_000_000)
    }

    /// The date of a count of seconds since 1970, negative before it.
    static func format(_ secondsSince1970: Int64) -> String {
        let days = secondsSince1970.flooredQuotient(by: 86_400)
        let second = secondsSince1970 - days * 86_400
        let date = CivilDate(daysSince1970: days)
        // 1970-01-01 was a Thursday.
        let weekday = weekdays[Int(days + 4 - (days + 4).flooredQuotient(by: 7) * 7)]
        let time = [second / 3600, second / 60 % 60, second % 60].map(twoDigits).joined(separator: ":")
        return "\(weekday), \(twoDigits(date.day)) \(months[Int(date.month) - 1]) \(date.year) \(time) GMT"
    }

    private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    private static func twoDigits(_ number: Int64) -> String {
        number < 10 ? "0\(number)" : "\(number)"
    }
}
