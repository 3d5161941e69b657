import PolicyStore
import Postgres
import Synchronization
import UpdatePolicy

/// The clock of the database, which decides what a time on the command line means.
final class CommandClock: Sendable {
    /// The time of the database when the command began to use it.
    let now: Timestamp
    private let database: DatabaseClock
    private let servers: [ServerSession]
    private let hasWarned = Mutex(false)

    /// Reads the clock, and what servers say of theirs.
    init(_ session: PostgresSession) throws {
        database = try DatabaseClock(session) { .now() }
        now = database.now
        servers = try ServerSession.all(session)
    }

    /// The moment that a time means; prints how it was understood where it has no offset, and warns where clocks differ.
    ///
    /// - Parameter option: What the time was given for: `--ends-at`.
    func moment(
        _ time: TimeArgument,
        of option: String,
        _ direction: TimeArgument.Direction = .future
    ) throws -> Timestamp {
        let moment = try time.moment(now: now, direction)
        if let understanding = time.understanding(of: moment, now: now) {
            printError("\(option): \(understanding)\n")
        }
        let warns = hasWarned.withLock { hasWarned in
            defer { hasWarned = true }
            return !hasWarned
        }
        if warns {
            for fault in Self.faults(database, servers) { printError("Warning: \(fault)\n") }
        }
        return moment
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
