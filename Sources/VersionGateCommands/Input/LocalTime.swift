import Foundation
import UpdatePolicy

/// A date and a time of day as clocks show them in the time zone of this machine (`TZ`).
struct LocalTime: Equatable, Sendable {
    /// The moment at which clocks show it in UTC.
    private let inUTC: Int64

    private static let day: Int64 = 86_400

    /// What clocks show at a moment.
    init(_ moment: Timestamp) {
        self.init(secondsSince1970: moment.microsecondsSince1970.flooredQuotient(by: 1_000_000))
    }

    private init(secondsSince1970 seconds: Int64) {
        inUTC = seconds + Self.offset(at: seconds)
    }

    private init(inUTC: Int64) {
        self.inUTC = inUTC
    }

    /// Reads `2026-11-22 02:00` or `2026-11-22T02:00:30`; nil where the calendar has no such day.
    init?(_ text: String) {
        guard let moment = Timestamp(text + "Z") else { return nil }
        self.init(inUTC: moment.microsecondsSince1970.flooredQuotient(by: 1_000_000))
    }

    /// The same date with another time of day, in seconds since midnight, `days` later.
    func at(secondsSinceMidnight seconds: Int64, daysLater days: Int64) -> LocalTime {
        LocalTime(inUTC: (daysSince1970 + days) * Self.day + seconds)
    }

    /// The days between 1970-01-01 and the date.
    var daysSince1970: Int64 { (inUTC - (inUTC % Self.day + Self.day) % Self.day) / Self.day }

    /// The day of the week; Sunday is 0, and 1970-01-01 was a Thursday.
    var weekday: Int { Int(((daysSince1970 + 4) % 7 + 7) % 7) }

    /// The moments at which clocks show it: none where they are set forward over it, two where they are set back.
    var moments: [Timestamp] {
        let offsets = Set([Self.offset(at: inUTC - Self.day), Self.offset(at: inUTC + Self.day)])
        return offsets.map { inUTC - $0 }.filter { LocalTime(secondsSince1970: $0) == self }.sorted()
            .map { Timestamp(secondsSince1970: $0) }
    }

    /// What clocks show instead where they are set forward over it.
    var setForward: LocalTime {
        LocalTime(secondsSince1970: inUTC - Self.offset(at: inUTC - Self.day))
    }

    /// The date and the time, without seconds where they are zero: `2026-11-22 02:00`.
    var text: String { "\(date) \(clock)" }

    /// The date: `2026-11-22`.
    var date: String { String(Timestamp(secondsSince1970: inUTC).description.prefix { $0 != "T" }) }

    /// The time of day, without seconds where they are zero: `02:00`.
    var clock: String {
        let text = Timestamp(secondsSince1970: inUTC).description.drop { $0 != "T" }.dropFirst().dropLast()
        return text.hasSuffix(":00") ? String(text.dropLast(3)) : String(text)
    }

    /// The zone that `TZ` names and this machine does not know, for which the C library takes UTC without a word.
    static func unknownZone(_ environment: [String: String]) -> String? {
        guard let zone = environment["TZ"]?.drop(while: { $0 == ":" }), !zone.isEmpty, !["UTC", "GMT"].contains(zone),
            // Described by itself: CET-1CEST,M3.5.0,M10.5.0/3.
            zone.prefixMatch(of: /(<[^>]+>|[A-Za-z]{3,})[+-]?\d/) == nil
        else { return nil }
        let folder = environment["TZDIR"] ?? "/usr/share/zoneinfo"
        return FileManager.default.fileExists(atPath: zone.hasPrefix("/") ? String(zone) : "\(folder)/\(zone)")
            ? nil : String(zone)
    }

    /// How many seconds clocks are ahead of UTC at a moment.
    static func offset(at seconds: Int64) -> Int64 { CommandContext.current.secondsAheadOfUTC(seconds) }

    /// The same by the time zone of this machine, or the variable `TZ`.
    @Sendable
    static func offsetOfThisMachine(at seconds: Int64) -> Int64 {
        var time = time_t(seconds)
        var fields = tm()
        return localtime_r(&time, &fields) == nil ? 0 : Int64(fields.tm_gmtoff)
    }
}
