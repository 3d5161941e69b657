// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

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

    private static func form(_ argument: String) throws -> Form? {
        let text = argument.split(separator: " ").joined(separator: " ")
        if text == "now" { return .relative(microseconds: 0) }
        if text.hasPrefix("+") || text.hasPrefix("-") {
            let length = text.dropFirst()
            if length.wholeMatch(of: /\d+/) != nil { throw CommandError("write its unit: \(text)m, \(text)h") }
            return duration(length).map { .relative(microseconds: text.hasPrefix("-") ? -$0 : $0) }
        }
        if let timestamp = Timestamp(text) { return .absolute(timestamp) }
        if text.hasPrefix("in "), let length = duration(text.dropFirst(3)) { return .relative(microseconds: length) }
        if text.hasSuffix(" ago"), let length = duration(text.dropLast(4)) { return .relative(microseconds: -length) }
        if duration(text[...]) != nil {
            throw CommandError("write +\(text) for so long from now, -\(text) for so long ago")
        }
        var words = text.lowercased().replacing(/^(\d{4}-\d\d-\d\d)t/) { "\($0.1) " }
            .replacing(/\ ?([ap]m)$/) { "\($0.1)" }
            .replacing(/(\d) ?([a-z]{3,})$/) { "\($0.1) \($0.2)" }
            .split(separator: " ").map(String.init).filter { $0 != "at" }
        if words.count == 2, secondsSinceMidnight(words[0]) != nil, day(words[1]) != nil { words.swapAt(0, 1) }
        if let date = words.first.flatMap(isoDate) { words[0] = date }
        if let date = words.first, date.wholeMatch(of: /\d{4}-\d\d-\d\d/) != nil, !isDate(date) {
            throw CommandError("there is no \(date) in the calendar")
        }
        if words.count == 1, isDate(words[0]) || day(words[0]) != nil {
            throw CommandError("say at what time of that day: \"\(words[0]) 9:00\"")
        }
        if words.count > 1, let zone = words.last, let offset = offset(zone) {
            guard words.count == 3, isDate(words[0]), let seconds = secondsSinceMidnight(words[1]),
                let midnight = Timestamp("\(words[0])T00:00:00\(offset)")
            else { throw CommandError("write the date too: 2026-11-22T\(words[words.count - 2])\(offset)") }
            return .absolute(midnight.advanced(byMicroseconds: seconds * 1_000_000))
        }
        if words.count == 3, isDate(words[0]), words[2].allSatisfy(\.isLetter) {
            let time = words[1].count { $0 == ":" } == 1 ? "\(words[1]):00" : words[1]
            throw CommandError(
                "write the offset of the time zone in place of its name: \(words[0])T\(time)+01:00 for one hour ahead of UTC"
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
        guard text.allSatisfy({ $0.isASCII && ($0.isNumber || $0.isLetter || $0 == " ") }) else { return nil }
        return DayTimeInterval(String(text))?.inMicroseconds
    }

    /// Reads a date as `24.12.2026` or `2026/12/24` has it; no other order of its numbers is plain.
    private static func isoDate(_ word: String) -> String? {
        func twoDigits(_ text: Substring) -> String { text.count == 1 ? "0\(text)" : String(text) }
        if let match = word.wholeMatch(of: /(\d{4})\/(\d{1,2})\/(\d{1,2})/) {
            return "\(match.1)-\(twoDigits(match.2))-\(twoDigits(match.3))"
        }
        return word.wholeMatch(of: /(\d{1,2})\.(\d{1,2})\.(\d{4})/)
            .map { "\($0.3)-\(twoDigits($0.2))-\(twoDigits($0.1))" }
    }

    /// The offset that a word of a time is, nil for another word.
    private static func offset(_ word: String) -> String? {
        if ["utc", "gmt", "z"].contains(word) { return "Z" }
        return word.wholeMatch(of: /[+-]\d\d:\d\d/).map { String($0.output) }
    }

    /// Reads `9:00`, `22:00`, `22:00:30`, `18.00`, `9am` or `9:30pm`.
    private static func secondsSinceMidnight(_ text: String) -> Int64? {
        if let match = text.wholeMatch(of: /(\d{1,2})(:\d\d)?(am|pm)/), let hour = Int64(match.1),
            (1...12).contains(hour)
        {
            return secondsSinceMidnight("\(hour % 12 + (match.3 == "pm" ? 12 : 0))\(match.2 ?? ":00")")
        }
        let isDotted = text.wholeMatch(of: /\d{1,2}\.\d\d/) != nil
        let parts = text.split(separator: isDotted ? "." : ":", omittingEmptySubsequences: false)
        guard (2...3).contains(parts.count), (1...2).contains(parts[0].count),
            parts.dropFirst().allSatisfy({ $0.count == 2 }),
            parts.allSatisfy({ $0.allSatisfy { $0.isASCII && $0.isNumber } })
        else { return nil }
        let numbers = parts.compactMap { Int64($0) }
        guard numbers[0] < 24, numbers.dropFirst().allSatisfy({ $0 < 60 }) else { return nil }
        return numbers.dropFirst().reduce(numbers[0]) { $0 * 60 + $1 } * (parts.count == 2 ? 60 : 1)
    }

    private static func isDate(_ word: String) -> Bool { LocalTime("\(word) 00:00") != nil }

    private static func day(_ word: String) -> Day? {
        switch word {
        case "yesterday": return .later(days: -1)
        case "today", "tonight": return .later(days: 0)
        case "tomorrow": return .later(days: 1)
        default:
            let matches = weekdays.indices.filter { word.count >= 3 && weekdays[$0].lowercased().hasPrefix(word) }
            return matches.first.map { .weekday($0) }
        }
    }

    fileprivate static let weekdays = [
        "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday",
    ]
}

extension TimeArgument {
    /// The moment that it means.
    ///
    /// - Parameters:
    ///   - now: The time of the database.
    ///   - direction: Where it lies if it names no day.
    /// - Throws: `CommandError` where clocks never show that time, or show it twice.
    func moment(now: Timestamp, _ direction: Direction = .future) throws -> Timestamp {
        switch form {
        case .local, .clock:
            if let zone = LocalTime.unknownZone(CommandContext.current.environment) {
                throw CommandError(
                    "\(text): TZ is \(zone.shellWord), a time zone that this machine does not know; write the offset of the "
                        + "time, 2026-11-22T02:00:00+01:00, or install tzdata"
                )
            }
        case .absolute, .relative: break
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
        switch day {
        case .later(let days): [days]
        case .any: direction == .future ? [0, 1] : [0, -1]
        case .weekday(let wanted):
            if direction == .future {
                [(wanted - weekday + 7) % 7, (wanted - weekday + 7) % 7 + 7].map(Int64.init)
            } else {
                [(weekday - wanted + 7) % 7, (weekday - wanted + 7) % 7 + 7].map { -Int64($0) }
            }
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
        switch form {
        case .absolute, .relative: return nil
        case .local, .clock: break
        }
        let local = LocalTime(moment)
        let day: String
        switch local.daysSince1970 - LocalTime(now).daysSince1970 {
        case -1: day = "yesterday"
        case 0: day = "today"
        case 1: day = "tomorrow"
        default: day = "on " + Self.weekdays[local.weekday]
        }
        let distance = moment.distance(from: now).map { ", \($0)" } ?? ""
        return "\(local.clock) \(day), \(TimeText.local(moment))\(distance)"
    }
}
