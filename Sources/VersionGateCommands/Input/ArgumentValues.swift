import ArgumentParser
import Foundation
import PolicyStore
import Postgres
import Reports
import UpdatePolicy

enum TimeArgument: Sendable {
    /// ISO 8601 with an offset.
    case absolute(Timestamp)
    /// From now: `+2h`, `-30m`, `now`.
    case relative(microseconds: Int64)
    /// What PostgreSQL reads in the time zone of this machine: `tomorrow 9:00`, `2026-11-22 02:00`.
    case local(String)

    static func parse(_ argument: String) throws -> TimeArgument {
        let text = argument.trimmingCharacters(in: .whitespaces)
        if let timestamp = Timestamp(text) { return .absolute(timestamp) }
        if text.lowercased() == "now" { return .relative(microseconds: 0) }
        let length = text.dropFirst()
        if let sign = text.first, "+-".contains(sign), length.wholeMatch(of: /[0-9A-Za-z ]+/) != nil,
            let microseconds = DayTimeInterval(String(length))?.inMicroseconds
        {
            return .relative(microseconds: sign == "-" ? -microseconds : microseconds)
        }
        let hour = /(?:0?[1-9]|1[0-2])(?::[0-5]\d)? ?[ap]m|(?:[01]?\d|2[0-3]):[0-5]\d/.ignoresCase()
        if text.wholeMatch(of: hour) != nil {
            throw CommandError("write its day: 'today \(text)' or 'tomorrow \(text)'")
        }
        // PostgreSQL reads days in any order, years of two digits and numbers alone.
        guard text.prefixMatch(of: /[A-Za-z]|\d{4}-\d/) != nil else { throw CommandError(howTo) }
        // It reads no am and pm without minutes.
        return .local(text.replacing(/\b(\d\d?) ?([ap]m)\b/.ignoresCase()) { "\($0.1):00 \($0.2)" })
    }

    static let howTo =
        "write a day and a time as the clocks of this machine show it (today 22:00, 2026-11-22 02:00), ISO 8601 with an offset "
        + "(2026-11-22T02:00:00Z), or a time from now (+2h, -1d12h, now)"
}

/// The clock of the database, which decides what a time on the command line means.
final class CommandClock {
    let now: Timestamp
    private let database: DatabaseClock
    private let session: PostgresSession
    private var hasWarned = false

    init(_ session: PostgresSession) throws {
        self.session = session
        database = try DatabaseClock(session) { .now() }
        now = database.now
    }

    func moment(_ time: TimeArgument, of option: String) throws -> Timestamp {
        if !hasWarned {
            let faults = Report(at: now, Report.clockFaults(database, try ServerSession.all(session)))
            if !faults.parts.isEmpty { printError(faults.text(on: .standardError) + "\n") }
        }
        hasWarned = true
        switch time {
        case .absolute(let moment): return moment
        case .relative(let microseconds): return now.advanced(byMicroseconds: microseconds)
        case .local(let text):
            let moment = try read(text, of: option)
            let distance = moment.distance(from: now).map { ", \($0)" } ?? ""
            printError("\(option): \(TimeText.local(moment))\(distance)\n")
            return moment
        }
    }

    private func read(_ text: String, of option: String) throws -> Timestamp {
        let zone = TimeText.zone(CommandContext.current.environment)
        do {
            return try DatabaseClock.read(text, inZone: zone, session)
        } catch DatabaseClock.Unreadable.zone {
            throw CommandError(
                "\(option): TZ is \(zone.shellWord), a time zone that the database does not know; write the offset of the time: "
                    + "2026-11-22T02:00:00+01:00"
            )
        } catch let error as DatabaseClock.Unreadable {
            let place = error == .day ? " in the calendar" : ""
            throw CommandError("\(option): there is no time \"\(text)\"\(place); \(TimeArgument.howTo)")
        }
    }
}

extension Timestamp {
    static func now() -> Timestamp {
        Timestamp(microsecondsSince1970: Int64((Date().timeIntervalSince1970 * 1_000_000).rounded(.down)))
    }
}

/// A percentage on the command line, with or without a percent sign; the database judges the number.
enum PercentArgument {
    static func parse(_ argument: String) throws -> String {
        let number = argument.replacing(/\ ?% *$/, with: "").drop { $0 == " " }
        let allowed = number.allSatisfy { $0.isASCII && ($0.isNumber || $0 == "." || $0 == "-") }
        guard allowed, Double(number) != nil else { throw CommandError("write a number from 0 to 100: 25 or 25%") }
        return String(number)
    }
}

/// A length of time on the command line, as policy files have it.
enum DurationArgument {
    static func parse(_ argument: String) throws -> String {
        if let number = Double(argument), number != 0 {
            throw CommandError("write its unit: '\(argument) day\(number == 1 ? "" : "s")', \(argument)h")
        }
        if argument.last?.isNumber == true, argument.contains(where: \.isLetter), !argument.contains(":") {
            throw CommandError("the last number has no unit; write \(argument)m for minutes, \(argument)s for seconds")
        }
        guard argument == "0" || DayTimeInterval(argument) != nil else {
            throw CommandError(
                "write weeks, days, hours, minutes or seconds ('2 days', 36h); months have no fixed length")
        }
        return argument
    }
}

enum WholeNumber {
    static func parse<Number: FixedWidthInteger>(_ argument: String) throws -> Number {
        guard let number = Number(argument) else { throw CommandError("write a whole number") }
        return number
    }

    static func requireRevision(_ revision: Int64?) throws {
        if let revision, revision < 0 {
            throw ValidationError("There is no revision \(revision); revisions start at 0.")
        }
    }
}

struct NamedValue: Sendable {
    let name: String
    let value: String

    /// - Parameter cure: What to say where it is not a name and a value.
    private init(_ argument: String, else cure: String) throws {
        let halves = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard halves.count == 2, !halves[0].isEmpty else { throw CommandError(cure) }
        (name, value) = (String(halves[0]), String(halves[1]))
    }

    static func member(_ argument: String) throws -> NamedValue {
        let value = try NamedValue(argument, else: "write the name of a member, \"=\" and its value: version=1.1")
        if argument.firstMatch(of: /, ?[a-z]+=/) != nil {
            let each = argument.split { ", ".contains($0) }.map { String($0).shellWord }
            throw CommandError("several members in one; write each by itself: \(each.joined(separator: " "))")
        }
        return value
    }

    /// The client that members of a check describe.
    static func client(_ members: [(name: String, value: String)]) throws -> Client {
        var client = Client()
        do throws(ClientError) {
            for (name, value) in members { try client.set(UTF8Text(name), inQuery: UTF8Text(value)) }
            try client.validate()
        } catch {
            throw ValidationError("\(error)")
        }
        return client
    }

    static func storeLink(_ argument: String) throws -> NamedValue {
        let cure = "write the platform, \"=\" and the link: ios=https://apps.apple.com/app/id123456789"
        let value = try NamedValue(argument, else: cure)
        if value.name.contains("://") { throw CommandError(cure) }
        let platforms = value.name.split { ", ".contains($0) }
        if value.name.contains(","), !platforms.isEmpty {
            let each = platforms.map { "--store-link \("\($0)=\(value.value)".shellWord)" }
            throw CommandError("several platforms in one; write \(each.joined(separator: " "))")
        }
        return value
    }
}

extension AttributeCondition {
    static func parse(_ argument: String) throws -> AttributeCondition {
        guard let match = argument.wholeMatch(of: /([^=!<>]*[^=!<>~^])(!=|<=|>=|<|>|=)(.*)/.dotMatchesNewlines()) else {
            throw CommandError(
                "write the name of the attribute, one of = != < <= > >= and a value: channel=beta, tier!=staff, stamp<45"
            )
        }
        let (name, sign, text) = (String(match.1), String(match.2), String(match.3))
        if sign.contains(where: { "<>".contains($0) }) { return Self(name: name, .range(UTF8Text(sign + text))) }
        func refuse(_ fault: String, _ meant: [String]) -> CommandError {
            CommandError(
                "\(fault); write \(meant.map { "--attribute \("\(name)\($0)".shellWord)" }.joined(separator: " "))")
        }
        // Apple names its devices so: iPhone14,3.
        let items = text.split { ",|; []".contains($0) }
        if items.count > 1, text.contains(where: { ",|;".contains($0) }), text.wholeMatch(of: /[A-Za-z]+\d+,\d+/) == nil
        {
            throw refuse("several values in one", items.map { sign + $0 })
        }
        let plain = text.replacing(/^[\ =]+|\ +$/, with: "").replacing(/^(['"])(.*)\1$/) { $0.2 }
        if plain != text, !plain.isEmpty {
            throw refuse("the value would be \"\(text)\", with all that is in it", [sign + plain])
        }
        return Self(name: name, sign == "=" ? .among([UTF8Text(text)]) : .not([UTF8Text(text)]))
    }
}
