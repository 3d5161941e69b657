package import Postgres
package import UpdatePolicy

package struct CountReader {
    let session: PostgresSession

    /// The limit on kinds of clients that are read; the checks of the others count as unknown.
    private static let mostKinds = 200_000

    package init(_ session: PostgresSession) { self.session = session }

    /// The checks of the last days by kind of client, from the start of the first day in UTC; of some apps, or of all.
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
    package func ifReadable<Counts>(_ read: (CountReader) throws -> Counts) throws -> Counts? {
        let counts = try attempt(read)
        return try? counts.get()
    }

    /// What `read` reads, or why the database refuses it, which leaves the transaction as it was.
    package func attempt<Counts>(_ read: (CountReader) throws -> Counts) throws -> Result<Counts, PostgresError> {
        try session.execute("SAVEPOINT counts")
        do {
            return .success(try read(self))
        } catch let error as PostgresError where error.sqlState != nil {
            try session.execute("ROLLBACK TO counts")
            return .failure(error)
        }
    }

    package func recentChecksIfReadable(days: Int, bundles: [String]? = nil) throws -> RecentChecks {
        try ifReadable { try $0.recentChecks(days: days, bundles: bundles) }
            ?? RecentChecks(days: days, clients: [], unknown: 0, merged: [], isKnown: false)
    }

    func mergedChecks(days: Int, bundles: [String]? = nil) throws -> [MergedChecks] {
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

    /// Kinds of more days come first, then those with more checks; the apps take turns.
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

    /// Selects some apps. The names are an array, and a query of all apps has none: else the index would not be used.
    private static func condition(_ days: Int, _ bundles: [String]?) -> (String, [(any PostgresEncodable)?]) {
        guard let bundles else { return ("true", [Int64(days)]) }
        let names = "ARRAY(SELECT lower(named COLLATE \"C\") FROM unnest($2::text[]) AS named)"
        return ("lower(bundle COLLATE \"C\") = ANY (\(names))", [Int64(days), bundles])
    }

    /// Selects the days; a row that is a rolled-up day counts as a whole.
    static let isRecent = "hour >= date_trunc('day', now() - $1::int8 * interval '1 day', 'UTC') AND \(isOver)"

    /// Leaves out hours in the future, of a server with a wrong clock, which may be ahead by up to an hour.
    static let isOver = "hour <= now() + interval '1 hour'"
}

/// The checks that servers counted in the last days. What clients claim is not verified.
package struct RecentChecks: Sendable {
    /// A week, so that every day of the week is in it.
    package static let usualDays = 7
    package let days: Int
    package let clients: [WeightedClient]
    package let unknown: Int64
    package let merged: [MergedChecks]
    /// Whether the counts could be read; where not, nothing is known.
    package let isKnown: Bool

    package var known: Int64 { clients.reduce(0) { $0 + $1.checks } }
    package var isEmpty: Bool { clients.isEmpty }
}

extension WeightedClient {
    init(_ kind: ClientKind, checks: Int64) throws {
        var client = Client()
        for (name, value) in [
            ("bundle", kind.bundle), ("platform", kind.platform), ("version", kind.version), ("build", kind.build),
            ("region", kind.region), ("os", kind.os),
        ] {
            if let value { try client.set(UTF8Text(name), to: .text(UTF8Text(value))) }
        }
        self.init(client, checks: checks)
    }
}

/// How many checks of an app were merged because they came from too many kinds of clients: of them the version is known
/// where it is that of a release, and else nothing.
package struct MergedChecks: Sendable, Equatable, Decodable {
    package let bundle: String
    package let checks: Int64
    /// How many checks of the app are counted with what is known of them; those of a release are among ``checks``, too.
    package let kept: Int64

    package var share: Double { Double(checks) / Double(max(1, checks + kept)) }
}

/// The steps of time in which counts are shown: the last 24 hours one by one, or whole days (UTC).
///
/// Counts keep their hours for a week, so days are all that is left of longer periods.
package struct CountPeriod: Sendable, Equatable {
    package enum Step: String, Sendable {
        case hour, day
    }

    package let days: Int
    package let step: Step
    /// When each step begins, in order; the last one is not over.
    package let starts: [Timestamp]
    let end: Timestamp

    package init(days: Int, at time: Timestamp) {
        self.days = max(1, days)
        end = time
        step = self.days == 1 ? .hour : .day
        let (length, count) = step == .hour ? (CountStore.hour, 24) : (CountStore.day, Int64(self.days) + 1)
        let last = CountStore.start(of: length, time)
        starts = (1...count).map { last.advanced(byMicroseconds: ($0 - count) * length) }
    }

    package var start: Timestamp { starts[0] }
    package var text: String { step == .hour ? "the last 24 hours" : "the last \(days) days" }
}
