import Postgres

/// The checks of an app in the last 24 hours, and what its rules sent.
package struct LastDay: Sendable {
    /// How many checks.
    package let checks: Int64
    /// By the key of a rule: how many messages it sent, and how many of them locked out.
    package let rules: [String: (sent: Int64, lockouts: Int64)]
}

/// The checks of one version of an app on one platform in the last 24 hours.
package struct VersionCount: Sendable {
    /// The app.
    package let bundle: String
    /// The platform; nil: not sent.
    package let platform: String?
    /// The version as clients sent it; nil: not sent.
    package let version: String?
    /// How many checks.
    package let checks: Int64
}

extension CountReader {
    /// The checks of an app in the last 24 hours, and what some rules sent.
    package func lastDay(of bundle: String, rules: [String]) throws -> LastDay {
        let checks = try session.query(
            """
            SELECT \(CountedTable.bounded("sum(checks)")) FROM public.check_counts
            WHERE lower(bundle COLLATE "C") = lower($1::text COLLATE "C") AND \(Self.isOfLastDay)
            """,
            [bundle]
        ).value(as: Int64.self)
        var sent: [String: (sent: Int64, lockouts: Int64)] = [:]
        for row in try session.query(
            """
            SELECT rule, \(CountedTable.bounded("sum(sent)")), \(CountedTable.bounded("sum(lockouts)")) FROM public.rule_counts
            WHERE rule = ANY ($1::text[]) AND \(Self.isOfLastDay) GROUP BY rule
            """,
            [rules]
        ) {
            sent[try row.decode(0, as: String.self)] = (
                try row.decode(1, as: Int64.self), try row.decode(2, as: Int64.self)
            )
        }
        return LastDay(checks: checks, rules: sent)
    }

    /// The versions that asked in the last 24 hours, most checks first.
    package func versionsOfLastDay(limit: Int) throws -> [VersionCount] {
        try session.query(
            """
            SELECT bundle, platform, version, \(CountedTable.bounded("sum(checks)")) AS sum FROM public.check_counts
            WHERE \(Self.isOfLastDay) AND bundle IS NOT NULL AND checks > 0
            GROUP BY 1, 2, 3 ORDER BY sum DESC, 1, 2, 3 LIMIT $1
            """,
            [Int64(limit)]
        ).map { row in
            VersionCount(
                bundle: try row.decode(0, as: String.self), platform: try row.decode(1, as: String?.self),
                version: try row.decode(2, as: String?.self), checks: try row.decode(3, as: Int64.self)
            )
        }
    }

    private static let isOfLastDay = "hour > now() - interval '24 hours' AND \(isOver)"
}
