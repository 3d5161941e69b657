package import Postgres
package import UpdatePolicy

extension CountStore {
    /// The most kinds of clients of an app in a day that are counted separately.
    package static let kindsPerDay: Int64 = 20_000

    /// The most kinds that one step merges.
    package static let kindsPerStep: Int64 = 50_000

    /// Merges the kinds of clients of a day beyond the limit for each app: one step in the transaction of `session`.
    ///
    /// Kinds of the days before are kept first, then those whose version is that of a release, then those with most checks.
    /// The others become one kind for each release, with its version alone, and checks of no release are counted without a
    /// kind. So the sums by hour stay the same, and so do those by app and release. The table `merged_counts` has the number
    /// of merged checks.
    ///
    /// - Parameters:
    ///   - now: The time; days and hours are those of UTC.
    ///   - day: A time in the day. Of the current day, only past hours are merged.
    /// - Returns: How many rows were merged; nil while another server is at work.
    package static func merge(
        at now: Timestamp,
        dayOf day: Timestamp,
        keeping kindsPerDay: Int64 = kindsPerDay,
        _ session: PostgresSession
    ) throws -> Int? {
        guard try begin(session, statementTimeout: "30s") else { return nil }
        let start = startOfDay(day, daysAgo: 0)
        let end = startOfHour(min(now, startOfDay(day, daysAgo: -1)))
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
