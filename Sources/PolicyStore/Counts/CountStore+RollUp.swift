package import Postgres
package import UpdatePolicy

extension CountStore {
    package struct RollUpStep: Sendable, Equatable {
        /// How many rows of hours became part of their day.
        package internal(set) var rolledUp = 0
        package internal(set) var deleted = 0

        package init() {}

        package var isDone: Bool { rolledUp == 0 && deleted == 0 }

        package mutating func add(_ other: RollUpStep) {
            rolledUp += other.rolledUp
            deleted += other.deleted
        }
    }

    /// How many days keep their hours, the current one not counted.
    package static let daysOfHours: Int64 = 7

    /// The most rows that one step takes.
    package static let rowsPerStep = 5_000

    /// The key of the advisory lock for rolling up: "versroll" as eight ASCII bytes.
    private static let advisoryLock: Int64 = 0x7665_7273_726F_6C6C

    /// Adds hours of days that are long over to their days, and deletes days that are kept no longer: one step in the
    /// transaction of `session`, of a bounded number of rows.
    ///
    /// Rows move in one statement, so nothing is lost or counted twice, whatever ends the step. Hours that lie more than
    /// a day ahead, which a server with a wrong clock has counted, are deleted, too.
    ///
    /// - Parameters:
    ///   - now: The time, best that of the database (``time(_:)``): a server whose clock is wrong would delete counts.
    ///     Days are those of UTC.
    ///   - daysKept: How many days are kept, the current one not counted.
    /// - Returns: What was done; nil while another server rolls up.
    package static func rollUp(
        at now: Timestamp,
        keepingDays daysKept: Int,
        _ session: PostgresSession
    ) throws -> RollUpStep? {
        guard try begin(session, statementTimeout: statementTimeout) else { return nil }
        let firstHour = startOfDay(now, daysAgo: daysOfHours)
        let firstDay = startOfDay(now, daysAgo: Int64(daysKept))
        let tooFar = now.advanced(byMicroseconds: day)
        var step = RollUpStep()
        step.deleted += try deleteOldLockoutCounts(at: now, session)
        for table in CountedTable.all {
            step.deleted += try session.query(deletion(from: table), [firstDay, Int64(rowsPerStep), tooFar])
                .value(as: Int.self)
            guard let hour = try session.query(oldestHour(in: table), [firstHour]).values(as: Timestamp.self).first
            else { continue }
            step.rolledUp += try session.query(moving(in: table), [hour, Int64(rowsPerStep)]).value(as: Int.self)
        }
        return step
    }

    /// The time of the database's clock.
    package static func time(_ session: PostgresSession) throws -> Timestamp {
        try session.query("SELECT now()").value(as: Timestamp.self)
    }

    /// Sets timeouts for the next statements, and takes the lock for rolling up and merging.
    ///
    /// - Returns: Whether no other server has the lock.
    static func begin(_ session: PostgresSession, statementTimeout: String) throws -> Bool {
        _ = try session.query(
            "SELECT set_config('lock_timeout', $1, true), set_config('statement_timeout', $2, true)",
            [lockTimeout, statementTimeout]
        )
        return try session.query("SELECT pg_try_advisory_xact_lock($1)", [advisoryLock]).value(as: Bool.self)
    }

    private static let hour: Int64 = 3_600_000_000
    private static let day: Int64 = 24 * hour

    /// The start of the day, in UTC, that is `daysAgo` days before the day of `time`.
    static func startOfDay(_ time: Timestamp, daysAgo: Int64) -> Timestamp {
        start(of: day, time).advanced(byMicroseconds: -daysAgo * day)
    }

    static func startOfHour(_ time: Timestamp) -> Timestamp {
        start(of: hour, time)
    }

    private static func start(of period: Int64, _ time: Timestamp) -> Timestamp {
        let since = ((time.microsecondsSince1970 % period) + period) % period
        return time.advanced(byMicroseconds: -since)
    }

    private static func deletion(from table: CountedTable) -> String {
        """
        WITH deleted AS (
            DELETE FROM \(table.name)
            WHERE ctid = ANY (
                ARRAY(SELECT ctid FROM \(table.name) WHERE hour < $1 OR hour > $3 ORDER BY hour LIMIT $2)
            )
            RETURNING hour
        )
        SELECT count(*) FROM deleted
        """
    }

    /// The first hour before `$1` that is not the first of its day. It uses the index to skip from hour to hour, because
    /// there may be many rows of days before.
    private static func oldestHour(in table: CountedTable) -> String {
        """
        WITH RECURSIVE hours AS (
            SELECT min(hour) AS hour FROM \(table.name)
            UNION ALL
            SELECT (SELECT min(hour) FROM \(table.name) WHERE hour > hours.hour) FROM hours WHERE hours.hour < $1
        )
        SELECT hour FROM hours WHERE hour < $1 AND hour <> date_trunc('day', hour, 'UTC') ORDER BY hour LIMIT 1
        """
    }

    private static func moving(in table: CountedTable) -> String {
        """
        WITH moved AS (
            DELETE FROM \(table.name)
            WHERE ctid = ANY (ARRAY(SELECT ctid FROM \(table.name) WHERE hour = $1 LIMIT $2))
            RETURNING *
        ), added AS (
            \(table.addition(of: "moved", hour: "date_trunc('day', hour, 'UTC')"))
        )
        SELECT count(*) FROM moved
        """
    }
}
