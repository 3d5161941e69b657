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
        time.distance(from: now).map { "\(local(time)) (\($0))" } ?? local(time)
    }

    private static func twoDigits(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
