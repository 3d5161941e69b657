import Postgres
package import UpdatePolicy

package struct CheckTotals: Sendable, Equatable, Decodable {
    package var checks: Int64
    package var messages: Int64
    package var lockouts: Int64
    package static let none = CheckTotals(checks: 0, messages: 0, lockouts: 0)

    static func sum(_ steps: [CheckTotals?]) -> CheckTotals {
        steps.compactMap(\.self).reduce(into: .none) { sum, totals in
            sum.checks += totals.checks
            sum.messages += totals.messages
            sum.lockouts += totals.lockouts
        }
    }

    package var messageShare: String { NumberText.share(Double(messages), of: Double(checks)) }
    package var lockoutPart: Double { checks == 0 ? 0 : Double(lockouts) / Double(checks) }
    package var lockoutShare: String { NumberText.share(Double(lockouts), of: Double(checks)) }
}

/// Checks with what they named beside the platform: a version, a system, as clients sent it; nil: not sent.
package struct NamedChecks: Sendable, Equatable, Decodable {
    package let platform: String?
    package let name: String?
    package let checks: Int64
}

package struct SentTotals: Sendable, Decodable {
    package let sent: Int64
    package let lockouts: Int64
}

package struct LastDay: Sendable {
    package let checks: Int64
    package let rules: [String: SentTotals]
}

/// The checks of one version of an app on one platform; nil: not sent.
package struct VersionCount: Sendable, Decodable {
    package let bundle: String
    package let platform: String?
    package let version: String?
    package let checks: Int64
}

package struct AppRow: Sendable {
    package let app: App
    /// The checks of the last 24 hours.
    package let last: CheckTotals
    package let before: CheckTotals
}

/// Figures of charts. Each answer has a bounded number of rows, however many kinds of clients there are.
extension CountReader {
    /// The most spellings of versions or systems that are read; the others are those with the fewest checks.
    private static let mostNames: Int64 = 10_000

    /// The checks of an app, or of all apps that were added, in each step of a period; nil where there were none.
    func totals(of bundle: String?, in period: CountPeriod) throws -> [CheckTotals?] {
        try steps(
            of: period, bundle, CountedTable.sums("checks", "messages", "lockouts"),
            "public.check_counts WHERE \(bundle == nil ? Self.isOfAnyApp : Self.isCounted)", having: "checks"
        )
    }

    func sent(ofRule key: String, in period: CountPeriod) throws -> [SentTotals?] {
        // Hour by hour, as the index is by hour and a great many other rules may have been sent.
        try steps(
            of: period, key, CountedTable.sums("sent", "lockouts"),
            """
            generate_series($2::timestamptz, $3::timestamptz + interval '1 hour', interval '1 hour') AS hours(hour)
                JOIN public.rule_counts USING (hour) WHERE rule = $1
            """, having: "sent"
        )
    }

    private func steps<Counts: Decodable>(
        of period: CountPeriod,
        _ name: String?,
        _ sums: String,
        _ source: String,
        having column: String
    ) throws -> [Counts?] {
        let counted: [Timestamp: Counts] = try session.query(
            "SELECT \(Self.step(of: period)) AS start, \(sums) FROM \(source) GROUP BY 1 HAVING sum(\(column)) > 0",
            parameters(name, period)
        ).rows(by: "start")
        return period.starts.map { counted[$0] }
    }

    package enum Name: String {
        case version, os, region
    }

    /// The checks of an app in a period by what clients sent, and platform (of regions nil), most first.
    package func checks(of bundle: String, by name: Name, in period: CountPeriod) throws -> [NamedChecks] {
        try session.query(
            """
            SELECT \(name == .region ? "NULL::text" : "platform") AS platform, \(name.rawValue) AS name,
                \(CountedTable.sums("checks"))
            FROM public.check_counts WHERE \(Self.isCounted)
            GROUP BY 1, 2 HAVING sum(checks) > 0 ORDER BY 3 DESC, 1, 2 LIMIT \(Self.mostNames)
            """,
            Array(parameters(bundle, period).prefix(3))
        ).rows()
    }

    /// The checks of some versions of an app, each with the ways in which clients spell it, in each step of a period.
    func checks(of bundle: String, in period: CountPeriod, bySpellings spellings: [[String]]) throws -> [[Int64]] {
        let steps = Dictionary(uniqueKeysWithValues: period.starts.enumerated().map { ($1, $0) })
        var checks = spellings.map { _ in period.starts.map { _ in Int64(0) } }
        let named = spellings.enumerated().flatMap { index, spellings in spellings.map { (Int64(index), $0) } }
        for row in try session.query(
            """
            SELECT \(Self.step(of: period)) AS start, named.index, \(CountedTable.sums("checks"))
            FROM public.check_counts JOIN unnest($5::int8[], $6::text[]) AS named(index, version) USING (version)
            WHERE \(Self.isCounted) GROUP BY 1, 2
            """,
            parameters(bundle, period) + [named.map(\.0), named.map(\.1)]
        ) {
            guard let step = steps[try row.decode("start")] else { continue }
            checks[try row.decode("index")][step] = try row.decode("checks")
        }
        return checks
    }

    func adoptions(
        of releases: [(newest: NewestRelease, previous: NewestRelease?)],
        bundle: String,
        at time: Timestamp
    ) throws -> [(newest: ReleaseAdoption, previous: ReleaseAdoption?)] {
        let platforms = releases.map(\.newest.platform)
        let since = releases.map { min($0.newest.liveAt, $0.previous?.liveAt ?? $0.newest.liveAt) }
        let isWanted = """
            lower(bundle COLLATE "C") = lower($1::text COLLATE "C") AND hour <= $2::timestamptz + interval '1 hour'
                AND hour > wanted.since - interval '1 hour' AND checks > 0
            """
        let wanted = "unnest($3::text[], $4::timestamptz[]) AS wanted(platform, since)"
        let parameters: [(any PostgresEncodable)?] = [bundle, time, platforms, since]
        struct Spelling: Decodable {
            let platform, version: String
        }
        let spellings: [Spelling] = try session.query(
            """
            SELECT platform, version FROM public.check_counts JOIN \(wanted) USING (platform)
            WHERE \(isWanted) AND version IS NOT NULL GROUP BY 1, 2 ORDER BY sum(checks) DESC LIMIT \(Self.mostNames)
            """,
            parameters
        ).rows()
        // What each spelling has reached: 1 the release before the newest, 2 the newest.
        let reached = spellings.compactMap { spelling -> (spelling: Spelling, rank: Int64)? in
            guard let pair = releases.first(where: { $0.newest.platform == spelling.platform }),
                let version = AppVersion(spelling.version)
            else { return nil }
            if !(version < pair.newest.version) { return (spelling, 2) }
            return pair.previous.flatMap { version < $0.version ? nil : (spelling, 1) }
        }
        struct Step: Decodable {
            let platform: String
            let start: Timestamp
            let checks, previous, newest: Int64

            func period(reached: Int64) -> ReleaseAdoption.Period {
                ReleaseAdoption.Period(start: start, checks: checks, reached: reached)
            }
        }
        let steps: [Step] = try session.query(
            """
            SELECT platform, CASE WHEN hour < $5::timestamptz THEN date_trunc('day', hour, 'UTC')
                ELSE date_trunc('hour', hour, 'UTC') END AS start, \(CountedTable.sums("checks")),
                \(CountedTable.bounded("sum(checks) FILTER (WHERE reached.rank >= 1)")) AS previous,
                \(CountedTable.bounded("sum(checks) FILTER (WHERE reached.rank >= 2)")) AS newest
            FROM public.check_counts JOIN \(wanted) USING (platform)
                LEFT JOIN unnest($6::text[], $7::text[], $8::int8[]) AS reached(platform, version, rank)
                    USING (platform, version)
            WHERE \(isWanted) GROUP BY 1, 2
            """,
            parameters + [
                CountStore.startOfDay(time, daysAgo: CountStore.daysOfHours),
                reached.map(\.spelling.platform), reached.map(\.spelling.version), reached.map(\.rank),
            ]
        ).rows()
        return releases.map { newest, previous in
            let steps = steps.filter { $0.platform == newest.platform }
            return (
                ReleaseAdoption(of: newest, periods: steps.map { $0.period(reached: $0.newest) }),
                previous.map { ReleaseAdoption(of: $0, periods: steps.map { $0.period(reached: $0.previous) }) }
            )
        }
    }

    package func lastDay(of bundle: String, rules: [String]) throws -> LastDay {
        let checks = try session.query(
            """
            SELECT \(CountedTable.sums("checks")) FROM public.check_counts
            WHERE lower(bundle COLLATE "C") = lower($1::text COLLATE "C") AND \(Self.isOfLastDay)
            """,
            [bundle]
        ).value(as: Int64.self)
        let sent: [String: SentTotals] = try session.query(
            """
            SELECT rule, \(CountedTable.sums("sent", "lockouts")) FROM public.rule_counts
            WHERE rule = ANY ($1::text[]) AND \(Self.isOfLastDay) GROUP BY rule
            """,
            [rules]
        ).rows(by: "rule")
        return LastDay(checks: checks, rules: sent)
    }

    package func versionsOfLastDay(limit: Int) throws -> [VersionCount] {
        try session.query(
            """
            SELECT bundle, platform, version, \(CountedTable.sums("checks")) FROM public.check_counts
            WHERE \(Self.isOfLastDay) AND bundle IS NOT NULL AND checks > 0
            GROUP BY 1, 2, 3 ORDER BY 4 DESC, 1, 2, 3 LIMIT $1
            """,
            [limit]
        ).rows()
    }

    func dailyCounts(
        of bundle: String,
        in period: CountPeriod
    ) throws -> [(start: Timestamp, totals: CheckTotals, version: NamedChecks)] {
        let rows = try session.query(
            """
            SELECT date_trunc('day', hour, 'UTC') AS start, platform, version AS name,
                \(CountedTable.sums("checks", "messages", "lockouts"))
            FROM public.check_counts WHERE \(Self.isCounted) AND checks > 0
            GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
            """,
            Array(parameters(bundle, period).prefix(3))
        )
        let counts = zip(try rows.rows(as: CheckTotals.self), try rows.rows(as: NamedChecks.self))
        return try zip(rows.values(as: Timestamp.self), counts).map { ($0, $1.0, $1.1) }
    }

    private static let isOfLastDay = "hour > now() - interval '24 hours' AND \(isOver)"

    /// The start of a row's step. A server's clock may be ahead by up to an hour, which belongs to the last step.
    private static func step(of period: CountPeriod) -> String {
        "least(date_trunc('\(period.step.rawValue)', hour, 'UTC'), $4::timestamptz)"
    }

    private static let isInPeriod = "hour >= $2::timestamptz AND hour <= $3::timestamptz + interval '1 hour'"
    private static let isCounted = "lower(bundle COLLATE \"C\") = lower($1::text COLLATE \"C\") AND \(isInPeriod)"
    private static let isOfAnyApp = "$1::text IS NULL AND bundle IS NOT NULL AND \(isInPeriod)"

    private func parameters(_ name: String?, _ period: CountPeriod) -> [(any PostgresEncodable)?] {
        [name, period.start, period.end, period.starts[period.starts.count - 1]]
    }

    /// The greatest share of lockouts in the last 24 hours first, then those with most checks.
    package func rows(of apps: [App]) throws -> [AppRow] {
        let counted = try session.query(
            """
            SELECT lower(bundle COLLATE "C") AS app, is_last, \(CountedTable.sums("checks", "messages", "lockouts")) FROM (
                SELECT bundle, hour > now() - interval '24 hours' AS is_last,
                    sum(checks) AS checks, sum(messages) AS messages, sum(lockouts) AS lockouts
                FROM public.check_counts
                WHERE hour > now() - interval '48 hours' AND \(Self.isOver) AND bundle IS NOT NULL
                GROUP BY 1, 2
            ) AS spelled
            GROUP BY 1, 2
            """
        )
        var (last, before): ([String: CheckTotals], [String: CheckTotals]) = ([:], [:])
        for (row, totals) in zip(counted, try counted.rows(as: CheckTotals.self)) {
            let app = try row.decode("app", as: String.self)
            if try row.decode("is_last") { last[app] = totals } else { before[app] = totals }
        }
        return apps.map { app in
            let bundle = ASCII.lowercased(app.bundle)
            return AppRow(app: app, last: last[bundle] ?? .none, before: before[bundle] ?? .none)
        }.sorted { left, right in
            let (share, other) = (left.last.lockoutPart, right.last.lockoutPart)
            if share != other { return share > other }
            if left.last.checks != right.last.checks { return left.last.checks > right.last.checks }
            return UTF8Text(left.app.bundle) < UTF8Text(right.app.bundle)
        }
    }
}
