import Foundation
import PolicyStore
import Postgres
import UpdatePolicy

/// A time on the command line.
enum TimeArgument: Sendable {
    /// ISO 8601 with an offset.
    case absolute(Timestamp)
    /// From now: `+2h`, `-30m`, `now`.
    case relative(microseconds: Int64)
    /// What PostgreSQL reads in the time zone of this machine: `tomorrow 9:00`, `2026-11-22 02:00`.
    case local(String)

    /// Reads a time, or leaves it to PostgreSQL.
    ///
    /// - Throws: `CommandError` that says how a time is written.
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
        // PostgreSQL reads days in any order, years of two digits and numbers alone.
        guard text.prefixMatch(of: /[A-Za-z]|\d{4}-\d/) != nil else { throw CommandError(howTo) }
        return .local(text)
    }

    /// How a time is written.
    static let howTo =
        "write a day and a time as the clocks of this machine show it (today 22:00, 2026-11-22 02:00), ISO 8601 with an offset "
        + "(2026-11-22T02:00:00Z), or a time from now (+2h, -1d12h, now)"
}

/// The clock of the database, which decides what a time on the command line means.
final class CommandClock {
    /// The time of the database when the command began to use it.
    let now: Timestamp
    private let database: DatabaseClock
    private let session: PostgresSession
    private var hasWarned = false

    /// Reads the clock.
    init(_ session: PostgresSession) throws {
        self.session = session
        database = try DatabaseClock(session) { .now() }
        now = database.now
    }

    /// The moment that a time means; prints how PostgreSQL understood it where it did, and warns where clocks differ.
    ///
    /// - Parameter option: What the time was given for: `--ends-at`.
    func moment(_ time: TimeArgument, of option: String) throws -> Timestamp {
        if !hasWarned {
            for fault in Self.faults(database, try ServerSession.all(session)) { printError("Warning: \(fault)\n") }
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

    /// Has PostgreSQL read a time in the time zone of this machine.
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

    /// Which clocks differ from that of the database.
    static func faults(_ database: DatabaseClock, _ servers: [ServerSession]) -> [String] {
        var faults: [String] = []
        if database.isOff {
            faults.append(
                "the clock of this machine is \(DatabaseClock.difference(seconds: -database.offset)) that of the database, "
                    + "where it is \(TimeText.local(database.now)); times count by the database"
            )
        }
        return faults + servers.compactMap(\.clockSentence)
    }
}
