import Postgres
package import UpdatePolicy

/// Checks with those that were answered with a message and with a lockout.
package struct CheckTotals: Sendable, Equatable, Decodable {
    package var checks: Int64
    package var messages: Int64
    package var lockouts: Int64

    package static let none = CheckTotals(checks: 0, messages: 0, lockouts: 0)

    package static func += (left: inout CheckTotals, right: CheckTotals) {
        left.checks += right.checks
        left.messages += right.messages
        left.lockouts += right.lockouts
    }

    static func sum(_ steps: some Sequence<CheckTotals?>) -> CheckTotals {
        steps.reduce(into: .none) { if let totals = $1 { $0 += totals } }
    }

    /// The share that was answered with a message, for people.
    package var messageShare: String { NumberText.share(Double(messages), of: Double(checks)) }
    /// The part that was answered with a lockout, from 0 to 1; 0 of none.
    package var lockoutPart: Double { checks == 0 ? 0 : Double(lockouts) / Double(checks) }
    /// The share that was answered with a lockout, for people.
    package var lockoutShare: String { NumberText.share(Double(lockouts), of: Double(checks)) }
}

/// Checks that named a platform, and something else beside it.
package struct PlatformChecks: Sendable, Equatable, Decodable {
    /// The platform; nil: not sent.
    package let platform: String?
    /// What they named as clients sent it: a version, a system; nil: not sent.
    package let name: String?
    package let checks: Int64

    package init(platform: String?, name: String?, checks: Int64) {
        self.platform = platform
        self.name = name
        self.checks = checks
    }
}

/// How many messages a rule sent, and how many of them locked out.
package struct SentTotals: Sendable, Decodable {
    package let sent: Int64
    package let lockouts: Int64
}

/// The checks of an app in the last 24 hours, and what its rules sent.
package struct LastDay: Sendable {
    package let checks: Int64
    /// By the key of a rule.
    package let rules: [String: (sent: Int64, lockouts: Int64)]
}

/// The checks of one version of an app on one platform.
package struct VersionCount: Sendable, Decodable {
    package let bundle: String
    /// The platform; nil: not sent.
    package let platform: String?
    /// The version as clients sent it; nil: not sent.
    package let version: String?
    package let checks: Int64
}

/// The checks of one version of an app on one platform in one day.
package struct PeriodCount: Sendable, Decodable {
    /// When the day begins, in UTC.
    package let start: Timestamp
    /// The platform; nil: not sent.
    package let platform: String?
    /// The version as clients sent it; nil: not sent.
    package let version: String?
    package let checks: Int64
    package let messages: Int64
    package let lockouts: Int64
}

/// Figures of charts. Each answer has a bounded number of rows, however many kinds of clients there are.
extension CountReader {
    /// The most spellings of versions or systems that are read; the others are those with the fewest checks.
    private static let mostNames: Int64 = 10_000

    /// The checks of an app in each step of a period; nil where there were none.
    ///
    /// - Parameter bundle: The app; nil: all apps that were added.
    package func totals(of bundle: String?, in period: CountPeriod) throws -> [CheckTotals?] {
        let counted = try session.query(
            """
            SELECT \(Self.step(of: period)) AS start, \(CountedTable.sums("checks", "messages", "lockouts"))
            FROM public.check_counts WHERE \(bundle == nil ? Self.isOfAnyApp : Self.isCounted)
            GROUP BY 1 HAVING sum(checks) > 0
            """,
            parameters(bundle, period)
        )
        let totals: [Timestamp: CheckTotals] = try counted.rows(by: "start")
        return period.starts.map { totals[$0] }
    }

    /// The versions of an app in a period as clients spelled them, by platform, most checks first.
    package func versions(of bundle: String, in period: CountPeriod) throws -> [PlatformChecks] {
        try names("version", bundle, period)
    }

    /// The systems of an app's clients in a period as clients spelled them, by platform, most checks first.
    package func systems(of bundle: String, in period: CountPeriod) throws -> [PlatformChecks] {
        try names("os", bundle, period)
    }

    /// The regions of an app's clients in a period, most checks first.
    package func regions(of bundle: String, in period: CountPeriod) throws -> [PlatformChecks] {
        try names("region", bundle, period, ofPlatforms: false)
    }

    private func names(
        _ column: String,
        _ bundle: String,
        _ period: CountPeriod,
        ofPlatforms: Bool = true
    ) throws -> [PlatformChecks] {
        try session.query(
            """
            SELECT \(ofPlatforms ? "platform" : "NULL::text AS platform"), \(column) AS name, \(CountedTable.sums("checks"))
            FROM public.check_counts WHERE \(Self.isCounted)
            GROUP BY 1, 2 HAVING sum(checks) > 0 ORDER BY 3 DESC, 1, 2 LIMIT \(Self.mostNames)
            """,
            Array(parameters(bundle, period).prefix(3))
        ).rows()
    }

    /// The checks of some versions of an app in each step of a period.
    ///
    /// - Parameter spellings: For each version the ways in which clients spell it.
    /// - Returns: For each version a count for each step.
    package func checks(
        of bundle: String,
        in period: CountPeriod,
        bySpellings spellings: [[String]]
    ) throws -> [[Int64]] {
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

    /// The adoption of releases, each with the one before it on its platform if there is one.
    ///
    /// - Parameter releases: At most one pair a platform.
    package func adoptions(
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
        // What each spelling has reached: 1 the release before the newest, 2 the newest.
        var reached: [(platform: String, version: String, rank: Int64)] = []
        for row in try session.query(
            """
            SELECT platform, version FROM public.check_counts JOIN \(wanted) USING (platform)
            WHERE \(isWanted) AND version IS NOT NULL GROUP BY 1, 2 ORDER BY sum(checks) DESC LIMIT \(Self.mostNames)
            """,
            parameters
        ) {
            let (platform, text) = (
                try row.decode("platform", as: String.self), try row.decode("version", as: String.self)
            )
            guard let pair = releases.first(where: { $0.newest.platform == platform }), let version = AppVersion(text)
            else { continue }
            if !(version < pair.newest.version) {
                reached.append((platform, text, 2))
            } else if let previous = pair.previous, !(version < previous.version) {
                reached.append((platform, text, 1))
            }
        }
        var newest: [String: [ReleaseAdoption.Period]] = [:]
        var previous: [String: [ReleaseAdoption.Period]] = [:]
        for row in try session.query(
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
                reached.map(\.platform), reached.map(\.version), reached.map(\.rank),
            ]
        ) {
            let platform = try row.decode("platform", as: String.self)
            let (start, checks) = (
                try row.decode("start", as: Timestamp.self), try row.decode("checks", as: Int64.self)
            )
            previous[platform, default: []].append(
                ReleaseAdoption.Period(start: start, checks: checks, reached: try row.decode("previous"))
            )
            newest[platform, default: []].append(
                ReleaseAdoption.Period(start: start, checks: checks, reached: try row.decode("newest"))
            )
        }
        return releases.map { pair in
            let platform = pair.newest.platform
            return (
                ReleaseAdoption(of: pair.newest, periods: newest[platform] ?? []),
                pair.previous.map { ReleaseAdoption(of: $0, periods: previous[platform] ?? []) }
            )
        }
    }

    /// How often a rule's message was sent in each step of a period; nil where it was not.
    package func sent(ofRule key: String, in period: CountPeriod) throws -> [SentTotals?] {
        // Hour by hour, as the index is by hour and a great many other rules may have been sent.
        let counted = try session.query(
            """
            SELECT \(Self.step(of: period)) AS start, \(CountedTable.sums("sent", "lockouts"))
            FROM generate_series($2::timestamptz, $3::timestamptz + interval '1 hour', interval '1 hour') AS hours(hour)
                JOIN public.rule_counts USING (hour)
            WHERE rule = $1 GROUP BY 1 HAVING sum(sent) > 0
            """,
            parameters(key, period)
        )
        let sent: [Timestamp: SentTotals] = try counted.rows(by: "start")
        return period.starts.map { sent[$0] }
    }

    /// The checks of an app in the last 24 hours, and what some rules sent.
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
        return LastDay(checks: checks, rules: sent.mapValues { ($0.sent, $0.lockouts) })
    }

    /// The versions that asked in the last 24 hours, most checks first.
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

    /// The checks of an app in a period by day, platform and version, in order of the day.
    package func dailyCounts(of bundle: String, in period: CountPeriod) throws -> [PeriodCount] {
        try session.query(
            """
            SELECT date_trunc('day', hour, 'UTC') AS start, platform, version,
                \(CountedTable.sums("checks", "messages", "lockouts"))
            FROM public.check_counts WHERE \(Self.isCounted) AND checks > 0
            GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
            """,
            Array(parameters(bundle, period).prefix(3))
        ).rows()
    }

    /// The checks of an app in the last days by day, platform and version.
    package func dailyCounts(of bundle: String, days: Int) throws -> [PeriodCount] {
        try dailyCounts(of: bundle, in: CountPeriod(days: days, at: CountStore.time(session)))
    }

    private static let isOfLastDay = "hour > now() - interval '24 hours' AND \(isOver)"

    /// The start of a row's step. A server's clock may be ahead by up to an hour, which belongs to the last step.
    private static func step(of period: CountPeriod) -> String {
        "least(date_trunc('\(period.step.rawValue)', hour, 'UTC'), $4::timestamptz)"
    }

    private static let isCounted = """
        lower(bundle COLLATE "C") = lower($1::text COLLATE "C") AND hour >= $2::timestamptz
            AND hour <= $3::timestamptz + interval '1 hour'
        """

    private static let isOfAnyApp = """
        $1::text IS NULL AND bundle IS NOT NULL AND hour >= $2::timestamptz
            AND hour <= $3::timestamptz + interval '1 hour'
        """

    private func parameters(_ name: String?, _ period: CountPeriod) -> [(any PostgresEncodable)?] {
        [
            name, period.start, period.end,
            period.starts[period.starts.count - 1],
        ]
    }
}
