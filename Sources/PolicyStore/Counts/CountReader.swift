package import Postgres
package import UpdatePolicy

/// Reads the counts that servers wrote.
package struct CountReader {
    let session: PostgresSession

    /// The limit on kinds of clients that are read; the checks of the others count as unknown.
    private static let mostKinds = 200_000

    package init(_ session: PostgresSession) {
        self.session = session
    }

    /// The checks of the last days by kind of client, from the start of the first day in UTC.
    ///
    /// - Parameter bundles: Only these apps; nil for all.
    package func recentChecks(days: Int, bundles: [String]? = nil) throws -> RecentChecks {
        let (isNamed, parameters) = Self.condition(days, bundles)
        let counted = try session.query(
            """
            SELECT bundle, platform, version, build, region, os, \(CountedTable.sums("checks"))
            FROM public.check_counts
            WHERE \(Self.isRecent) AND bundle IS NOT NULL AND checks > 0 AND \(isNamed)
            GROUP BY 1, 2, 3, 4, 5, 6 ORDER BY 7 DESC LIMIT \(Self.mostKinds)
            """,
            parameters
        )
        let clients = try zip(counted, try counted.rows(as: ClientKind.self)).map { row, kind in
            try WeightedClient(kind, checks: row.decode("checks"))
        }
        let total = try session.query(
            """
            SELECT \(CountedTable.sums("checks")) FROM public.check_counts
            WHERE \(Self.isRecent) AND (lower(bundle COLLATE "C") IS NULL OR \(isNamed))
            """,
            parameters
        ).value(as: Int64.self)
        return RecentChecks(
            days: days, clients: clients, unknown: max(0, total - clients.reduce(0) { $0 + $1.checks }),
            merged: try mergedChecks(days: days, bundles: bundles), isKnown: true
        )
    }

    /// What `read` reads, nil where the database refuses it: edits go on without counts.
    ///
    /// - Throws: `PostgresError` if the connection fails.
    package func ifReadable<Counts>(_ read: (CountReader) throws -> Counts) throws -> Counts? {
        switch try attempt(read) {
        case .success(let counts): counts
        case .failure: nil
        }
    }

    /// What `read` reads, or why the database refuses it, which leaves the transaction as it was.
    ///
    /// - Throws: `PostgresError` if the connection fails.
    package func attempt<Counts>(_ read: (CountReader) throws -> Counts) throws -> Result<Counts, PostgresError> {
        try session.execute("SAVEPOINT counts")
        do {
            return .success(try read(self))
        } catch let error as PostgresError where error.sqlState != nil {
            try session.execute("ROLLBACK TO counts")
            return .failure(error)
        }
    }

    /// The checks of the last days as ``recentChecks(days:bundles:)`` reads them, not known where the database refuses that.
    package func recentChecksIfReadable(days: Int, bundles: [String]? = nil) throws -> RecentChecks {
        try ifReadable { try $0.recentChecks(days: days, bundles: bundles) }
            ?? RecentChecks(days: days, clients: [], unknown: 0, merged: [], isKnown: false)
    }

    /// How many checks of the last days were merged because they came from too many kinds of clients, by app, most first.
    ///
    /// - Parameter bundles: Only these apps; nil for all.
    package func mergedChecks(days: Int, bundles: [String]? = nil) throws -> [MergedChecks] {
        let (isNamed, parameters) = Self.condition(days, bundles)
        return try session.query(
            """
            SELECT bundle, \(CountedTable.bounded("sum(merged.checks)")) AS checks, (
                SELECT \(CountedTable.bounded("sum(all_of.checks)")) FROM public.check_counts AS all_of
                WHERE \(Self.isRecent) AND lower(all_of.bundle COLLATE "C") = lower(merged.bundle COLLATE "C")) AS kept
            FROM public.merged_counts AS merged
            WHERE \(Self.isRecent) AND \(isNamed)
            GROUP BY bundle HAVING sum(merged.checks) > 0 ORDER BY 2 DESC, 1
            """,
            parameters
        ).rows()
    }

    /// The kinds of clients that checked in the last days, at most `limit`. In each app, kinds of more days come first, then
    /// those with more checks; the apps take turns.
    package func recentKinds(limit: Int) throws -> [ClientKind] {
        try session.query(
            """
            SELECT bundle, platform, version, build, region, os FROM (
                SELECT bundle, platform, version, build, region, os, row_number() OVER (
                    PARTITION BY bundle
                    ORDER BY count(DISTINCT date_trunc('day', hour, 'UTC')) DESC, sum(checks) DESC,
                        platform, version, build, region, os
                ) AS place
                FROM public.check_counts WHERE \(Self.isRecent) AND bundle IS NOT NULL
                GROUP BY 1, 2, 3, 4, 5, 6
            ) AS kinds
            ORDER BY place, bundle LIMIT $2
            """,
            [CountStore.daysOfKnownKinds, Int64(limit)]
        ).rows()
    }

    /// Selects the rows of some apps, and the parameters of a query of days that has this condition.
    ///
    /// The names are an array, and a query of all apps has no names: else the index would not be used.
    private static func condition(
        _ days: Int,
        _ bundles: [String]?
    ) -> (condition: String, parameters: [(any PostgresEncodable)?]) {
        guard let bundles else { return ("true", [Int64(days)]) }
        let names = "ARRAY(SELECT lower(named COLLATE \"C\") FROM unnest($2::text[]) AS named)"
        return ("lower(bundle COLLATE \"C\") = ANY (\(names))", [Int64(days), bundles])
    }

    /// Selects the days; a row that is a rolled-up day counts as a whole.
    static let isRecent =
        "hour >= date_trunc('day', now() - $1::int8 * interval '1 day', 'UTC') AND \(isOver)"

    /// Leaves out hours in the future, which a server with a wrong clock has counted. A clock may be ahead by up to an hour.
    static let isOver = "hour <= now() + interval '1 hour'"
}
