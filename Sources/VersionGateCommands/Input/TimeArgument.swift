import Foundation
import UpdatePolicy

/// A time on the command line: ISO 8601 with an offset, relative to now (`+2h`, `-30m`, `+1d12h`, `now`), or as clocks
/// show it in the time zone of this machine (`22:00`, `tomorrow 9:00`, `friday 9:00`, `2026-11-22 02:00`).
struct TimeArgument: Sendable {
    private enum Form {
        case absolute(Timestamp)
        case relative(microseconds: Int64)
        case local(LocalTime)
        /// The nearest time at which clocks show this, on one of the days that are left.
        case clock(secondsSinceMidnight: Int64, Day)
    }

    /// A day that is known from today.
    private enum Day {
        case any
        case later(days: Int64)
        case weekday(Int)
    }

    /// Which of the days that it may be on a time is on, if it names none.
    enum Direction: Sendable {
        /// The next one, as for the end of a rule.
        case future
        /// The last one, as for the beginning of a search.
        case past
    }

    private let form: Form
    private let text: String

    private init(_ form: Form, _ text: String) {
        self.form = form
        self.text = text
    }

    /// Reads a time.
    ///
    /// - Throws: `CommandError` that says how a time is written.
    static func parse(_ argument: String) throws -> TimeArgument {
        guard let form = try form(argument) else { throw CommandError(howTo) }
        return TimeArgument(form, argument)
    }

    /// How a time is written.
    private static let howTo =
        "write a time of day (22:00, tomorrow 9:00, friday 9:00), a date with a time (2026-11-22 02:00), ISO 8601 with an "
        + "offset (2026-11-22T02:00:00Z), or a time from now (+2h, -30m, now)"

    /// Ways to write what has one reading, and that reading.
    private static let spellings = [
        (#"^now ?(?=[+-])"#, ""), (#"^in (?=\d)"#, "+"), ("^(.*) ago$", "-$1"), (#"^(\d{4}-\d\d-\d\d)[t_]"#, "$1 "),
        (", ?| at ", " "), (#"^(\d{4})[/.](\d\d?)[/.](\d\d?)\b"#, "$1-$2-$3"),
        (#"^(\d\d?)\.(\d\d?)\.(\d{4})\b"#, "$3-$2-$1"), (#"^(\d{4}-)(\d)(?=-)"#, "$10$2"),
        (#"^(\d{4}-\d\d-)(\d)\b"#, "$10$2"), (#" ?([ap])\.?m\.?$"#, "$1m"), (#"(\d) ?uhr$"#, "$1"),
        (#"(:\d\d) ?h$"#, "$1"), (#"(\d) ?([a-z]{3,}.*)$"#, "$1 $2"), (#"\bnoon$"#, "12:00"), ("^midnight$", "0:00"),
        (" ?(utc|gmt|z)$", "Z"), (#" (?=[+-]\d\d:\d\d$)"#, ""), (#"^(\d{4}-\d\d-\d\d )(?=\d:)"#, "$10"),
    ]

    /// Ways that have several readings or none, and what to write.
    private static let faults = [
        (#"^[+-]\d+$"#, "write its unit: $0m, $0h"),
        (#"^[+-].*"#, "write whole numbers with their units, weeks, days, hours, minutes or seconds: +1d12h, -30m"),
        (#"^(next|last|this) ((sun|mon|tue|wed|thu|fri|sat).*)$"#, "leave \"$1\" out: \"$2\""),
        (
            #"^(.*\b(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?( .*)?|\d\d?([./-])\d\d?\4.*|\d{8}.*|\d\d-.*)$"#,
            "write the date as year-month-day: 2026-12-24 18:00"
        ),
        (#"^((.+ )?)24:00$"#, "the end of a day is the beginning of the next: 0:00"),
        (#"^((\S+ )?)([01]?\d|2[0-3])$"#, "write the minutes too: $1$3:00"),
        (#"^(\d\d?:\d\d)(:\d\d)?(Z|[+-]\d\d:\d\d)$"#, "write the date too: 2026-11-22T$1$3"),
        (
            #"^(\d{4}-\d\d-\d\d) (\d\d:\d\d)(:\d\d)? [a-z].*$"#,
            "write the offset of the time zone in place of its name: $1T$2:00+01:00 for one hour ahead of UTC"
        ),
        ("^tonight$", "say at what time: \"tonight 22:00\""),
    ]

    private static func replacing(_ pattern: String, in text: String, with template: String) -> String {
        text.replacingOccurrences(of: pattern, with: template, options: [.regularExpression, .caseInsensitive])
    }

    private static func form(_ argument: String) throws -> Form? {
        let given = argument.split(separator: " ").joined(separator: " ")
        let text = spellings.reduce(given) { replacing($1.0, in: $0, with: $1.1) }
        if let timestamp = Timestamp(text) { return .absolute(timestamp) }
        if text.lowercased() == "now" { return .relative(microseconds: 0) }
        if let sign = text.first, "+-".contains(sign), let length = duration(text.dropFirst()) {
            return .relative(microseconds: sign == "-" ? -length : length)
        }
        if duration(text[...]) != nil {
            let hour = text.wholeMatch(of: /(\d{1,2})h/).map { ", \($0.1):00 for a time of day" }
            throw CommandError("write +\(text) for so long from now, -\(text) for so long ago\(hour ?? "")")
        }
        var words = text.lowercased().split(separator: " ").map(String.init)
        if words.count == 2, secondsSinceMidnight(words[0]) != nil, day(words[1]) != nil || isDate(words[1]) {
            words.swapAt(0, 1)
        }
        if let date = words.first, date.wholeMatch(of: /\d{4}-\d\d-\d\d/) != nil, !isDate(date) {
            throw CommandError("there is no \(date) in the calendar")
        }
        for (pattern, cure) in faults {
            let told = replacing(pattern, in: text, with: cure)
            if told != text { throw CommandError(told) }
        }
        if words.count == 1, isDate(words[0]) || day(words[0]) != nil {
            throw CommandError(
                "say at what time of that day: \"\(words[0]) 9:00\", \"\(words[0]) 0:00\" for its beginning"
            )
        }
        guard let time = words.last, words.count < 3, let seconds = secondsSinceMidnight(time) else { return nil }
        if words.count == 1 { return .clock(secondsSinceMidnight: seconds, .any) }
        if let day = day(words[0]) { return .clock(secondsSinceMidnight: seconds, day) }
        return LocalTime("\(words[0]) 00:00").map {
            .local($0.at(secondsSinceMidnight: seconds, daysLater: 0))
        }
    }

    /// Reads `1d12h30m15s`, `2 days`: numbers, each with its unit.
    private static func duration(_ text: Substring) -> Int64? {
        guard text.wholeMatch(of: /[0-9A-Za-z ]*[A-Za-z][0-9A-Za-z ]*/) != nil else { return nil }
        return DayTimeInterval(String(text))?.inMicroseconds
    }

    /// Reads `9:00`, `22:00`, `22:00:30`, `18.00`, `9am` or `9:30pm`.
    private static func secondsSinceMidnight(_ text: String) -> Int64? {
        guard let match = text.wholeMatch(of: /(\d{1,2})(?:[:.](\d\d))?(?::(\d\d))?(am|pm)?/),
            match.2 != nil || match.4 != nil, let written = Int64(match.1), let minute = Int64(match.2 ?? "0"),
            let second = Int64(match.3 ?? "0"), match.4 == nil || (1...12).contains(written)
        else { return nil }
        let hour = match.4.map { written % 12 + ($0 == "pm" ? 12 : 0) } ?? written
        return hour < 24 && minute < 60 && second < 60 ? (hour * 60 + minute) * 60 + second : nil
    }

    private static func isDate(_ word: String) -> Bool { LocalTime("\(word) 00:00") != nil }

    private static func day(_ word: String) -> Day? {
        let near: [String: Int64] = ["yesterday": -1, "today": 0, "tonight": 0, "tomorrow": 1]
        if let days = near[word] { return .later(days: days) }
        guard word.count >= 3 else { return nil }
        return weekdays.firstIndex { $0.lowercased().hasPrefix(word) }.map { .weekday($0) }
    }

    fileprivate static let weekdays = [
        "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday",
    ]
}

extension TimeArgument {
    /// Whether it is told by the clocks of this machine.
    private var isLocal: Bool {
        switch form {
        case .local, .clock: true
        case .absolute, .relative: false
        }
    }

    /// The moment that it means.
    ///
    /// - Parameters:
    ///   - now: The time of the database.
    ///   - direction: Where it lies if it names no day.
    /// - Throws: `CommandError` where clocks never show that time, or show it twice.
    func moment(now: Timestamp, _ direction: Direction = .future) throws -> Timestamp {
        if isLocal, let zone = LocalTime.unknownZone(CommandContext.current.environment) {
            throw CommandError(
                "\(text): TZ is \(zone.shellWord), a time zone that this machine does not know; write the offset of the "
                    + "time, 2026-11-22T02:00:00+01:00, or install tzdata"
            )
        }
        switch form {
        case .absolute(let timestamp): return timestamp
        case .relative(let microseconds): return now.advanced(byMicroseconds: microseconds)
        case .local(let time): return try onlyMoment(of: time)
        case .clock(let seconds, let day):
            let today = LocalTime(now)
            let candidates = Self.days(day, today.weekday, direction).map {
                today.at(secondsSinceMidnight: seconds, daysLater: $0)
            }
            for time in candidates.dropLast() {
                let moment = try onlyMoment(of: time)
                if direction == .future ? moment > now : moment <= now { return moment }
            }
            return try onlyMoment(of: candidates[candidates.count - 1])
        }
    }

    /// The days that come into question, by how many days they are later than today; the last one if no other.
    private static func days(_ day: Day, _ weekday: Int, _ direction: Direction) -> [Int64] {
        let sign: Int64 = direction == .future ? 1 : -1
        switch day {
        case .later(let days): return [days]
        case .any: return [0, sign]
        case .weekday(let wanted):
            let days = (Int64(wanted - weekday) * sign + 7) % 7
            return [days * sign, (days + 7) * sign]
        }
    }

    private func onlyMoment(of time: LocalTime) throws -> Timestamp {
        let moments = time.moments
        if moments.isEmpty {
            throw CommandError(
                "\(text): there is no \(time.text) in the time zone of this machine, as clocks are set forward over it; write "
                    + "\"\(time.setForward.text)\", or a time with an offset"
            )
        }
        guard moments.count == 1 else {
            throw CommandError(
                "\(text): \(time.text) comes twice in the time zone of this machine, as clocks are set back; write "
                    + "\(TimeText.local(moments[0])) for the first, or \(TimeText.local(moments[1])) for the second"
            )
        }
        return moments[0]
    }

    /// How a time without an offset was understood: `02:00 tomorrow, 2026-11-23T02:00:00+01:00, in 14 h`; nil for others.
    func understanding(of moment: Timestamp, now: Timestamp) -> String? {
        guard isLocal else { return nil }
        let local = LocalTime(moment)
        let days = local.daysSince1970 - LocalTime(now).daysSince1970
        let day = [-1: "yesterday", 0: "today", 1: "tomorrow"][days] ?? "on " + Self.weekdays[local.weekday]
        let distance = moment.distance(from: now).map { ", \($0)" } ?? ""
        return "\(local.clock) \(day), \(TimeText.local(moment))\(distance)"
    }
}
