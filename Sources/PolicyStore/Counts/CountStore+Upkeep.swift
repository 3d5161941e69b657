package import Postgres
package import UpdatePolicy

extension CountStore {
    package struct RollUpStep: Sendable, Equatable {
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
    package static let rowsPerStep = 5_000

    /// The key of the advisory lock for rolling up: "versroll" as eight ASCII bytes.
    private static let advisoryLock: Int64 = 0x7665_7273_726F_6C6C

    /// Adds hours of days that are long over to their days, and deletes days that are kept no longer: one step of a
    /// bounded number of rows. Nil: another server rolls up.
    ///
    /// Rows move in one statement, so nothing is lost or counted twice, whatever ends the step. Hours that lie more than
    /// a day ahead, which a server with a wrong clock has counted, are deleted, too. `now` is best the time of the
    /// database (``time(_:)``): a server whose clock is wrong would delete counts.
    package static func rollUp(
        at now: Timestamp,
        keepingDays daysKept: Int,
        _ session: PostgresSession
    ) throws -> RollUpStep? {
        guard try begin(session, statementTimeout: statementTimeout) else { return nil }
        let firstHour = startOfDay(now, daysAgo: daysOfHours)
        let firstDay = startOfDay(now, daysAgo: Int64(daysKept))
        let (yesterday, tooFar) = (now.advanced(byMicroseconds: -day), now.advanced(byMicroseconds: day))
        var step = RollUpStep()

        func delete(from table: CountedTable, before first: Timestamp) throws {
            let (name, time) = (table.name, table.time)
            let deleted = try session.query(
                """
                DELETE FROM \(name) WHERE ctid = ANY (
                    ARRAY(SELECT ctid FROM \(name) WHERE \(time) < $1 OR \(time) > $3 ORDER BY \(time) LIMIT $2)
                )
                """,
                [first, rowsPerStep, tooFar]
            )
            step.deleted += deleted.affectedRows
        }
        try delete(from: .lockouts, before: yesterday)
        for table in CountedTable.all {
            try delete(from: table, before: firstDay)
            guard let hour = try session.query(oldestHour(in: table), [firstHour]).values(as: Timestamp.self).first
            else { continue }
            step.rolledUp += try session.query(moving(in: table), [hour, rowsPerStep]).value(as: Int.self)
        }
        return step
    }

    package static func time(_ session: PostgresSession) throws -> Timestamp {
        try session.query("SELECT now()").value()
    }

    private static func begin(_ session: PostgresSession, statementTimeout: String) throws -> Bool {
        try session.setTimeouts(statement: statementTimeout)
        return try session.query("SELECT pg_try_advisory_xact_lock($1)", [advisoryLock]).value()
    }

    static let hour: Int64 = 3_600_000_000
    static let day: Int64 = 24 * hour

    static func startOfDay(_ time: Timestamp, daysAgo: Int64) -> Timestamp {
        start(of: day, time).advanced(byMicroseconds: -daysAgo * day)
    }

    static func start(of period: Int64, _ time: Timestamp) -> Timestamp {
        Timestamp(microsecondsSince1970: time.microsecondsSince1970.flooredQuotient(by: period) * period)
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

    package static let kindsPerDay: Int64 = 20_000
    private static let kindsPerStep: Int64 = 50_000

    /// Merges the kinds of clients of a day (of the current one: its past hours) beyond the limit for each app, and
    /// returns how many rows: one step. Nil: another server is at work.
    ///
    /// Kinds of the days before are kept first, then those whose version is that of a release, then those with most
    /// checks. The others become one kind for each release, with its version alone, and checks of no release are counted
    /// without a kind. So the sums by hour stay the same, and so do those by app and release. `merged_counts` has what
    /// was merged.
    package static func merge(
        at now: Timestamp,
        dayOf day: Timestamp,
        keeping kindsPerDay: Int64 = kindsPerDay,
        _ session: PostgresSession
    ) throws -> Int? {
        guard try begin(session, statementTimeout: "30s") else { return nil }
        let start = startOfDay(day, daysAgo: 0)
        let end = Self.start(of: hour, min(now, startOfDay(day, daysAgo: -1)))
        let bundles = try session.query(
            """
            SELECT bundle FROM public.check_counts WHERE hour >= $1 AND hour < $2 AND bundle IS NOT NULL
            GROUP BY bundle HAVING count(*) > $3
            """,
            [start, end, kindsPerDay]
        ).values(as: String.self)
        guard !bundles.isEmpty else { return 0 }
        return try session.query(merging, [start, end, bundles, kindsPerDay, kindsPerStep]).value(as: Int.self)
    }

    /// How many days before a day have the kinds that are kept first.
    static let daysOfKnownKinds: Int64 = 3

    private static let merging = """
        WITH kinds AS (
            SELECT c.bundle, c.platform, c.version, c.build, c.region, c.os, released.version IS NOT NULL AS is_release,
                bool_or(c.hour < $1) AS is_earlier,
                sum(c.checks) FILTER (WHERE c.hour >= $1) AS checks,
                array_agg(c.ctid) FILTER (WHERE c.hour >= $1) AS rows
            FROM public.check_counts AS c
            LEFT JOIN (SELECT DISTINCT bundle, platform, version FROM public.releases) AS released
                ON released.bundle = c.bundle AND released.platform = c.platform AND released.version = c.version
            WHERE c.hour >= $1::timestamptz - \(daysOfKnownKinds) * interval '1 day' AND c.hour < $2
                AND c.bundle = ANY ($3)
            GROUP BY 1, 2, 3, 4, 5, 6, 7
        ), ranked AS (
            SELECT *, row_number() OVER (
                PARTITION BY bundle
                ORDER BY is_earlier DESC, is_release DESC, checks DESC, platform, version, build, region, os
            ) AS place
            FROM kinds
            WHERE rows IS NOT NULL AND NOT (is_release AND build IS NULL AND region IS NULL AND os IS NULL)
        ), excess AS (
            SELECT unnest(rows) AS row, is_release FROM (
                SELECT rows, is_release FROM ranked WHERE place > $4 LIMIT $5
            ) AS step
        ), moved AS (
            DELETE FROM public.check_counts AS c USING excess WHERE c.ctid = excess.row
            RETURNING c.*, excess.is_release
        ), merged AS (
            \(CountedTable.merged.addition(of: "(SELECT hour, bundle, checks FROM moved) AS counted_before"))
        ), added AS (
            \(CountedTable.checks.addition(
                of: """
                (SELECT hour, CASE WHEN is_release THEN bundle END AS bundle,
                    CASE WHEN is_release THEN platform END AS platform,
                    CASE WHEN is_release THEN version END AS version,
                    NULL::text AS build, NULL::text AS region, NULL::text AS os, checks, messages, lockouts
                    FROM moved) AS coarser
                """
            ))
        )
        SELECT count(*) FROM moved
        """
}
