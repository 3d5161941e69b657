// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

public import Postgres
import UpdatePolicy

/// Reads what servers have counted.
public struct CountReader {
    let session: PostgresSession

    /// The most kinds of clients that are told apart; those with fewer checks are unknown beyond it.
    private static let mostKinds = 200_000

    /// Reads within one transaction.
    public init(_ session: PostgresSession) {
        self.session = session
    }

    /// Who checked in the last days, from the beginning of the first in UTC.
    ///
    /// - Parameters:
    ///   - days: How many days before now.
    ///   - bundles: Only these apps; nil for all.
    public func recentChecks(days: Int, bundles: [String]? = nil) throws -> RecentChecks {
        let counts = try session.query(
            """
            SELECT bundle, platform, version, build, region, os, sum(checks)::int8 AS sum
            FROM public.check_counts
            WHERE \(Self.isRecent) AND bundle IS NOT NULL AND checks > 0
                AND ($2::text[] IS NULL OR \(Self.isNamed))
            GROUP BY 1, 2, 3, 4, 5, 6 ORDER BY sum DESC LIMIT \(Self.mostKinds)
            """,
            [Int64(days), bundles]
        ).map { row in
            ClientCount(
                bundle: try row.decode(0, as: String.self),
                platform: try row.decode(1, as: String?.self),
                version: try row.decode(2, as: String?.self),
                build: try row.decode(3, as: String?.self),
                region: try row.decode(4, as: String?.self),
                os: try row.decode(5, as: String?.self),
                checks: try row.decode(6, as: Int64.self)
            )
        }
        let total = try session.query(
            """
            SELECT coalesce(sum(checks), 0)::int8 FROM public.check_counts
            WHERE \(Self.isRecent) AND ($2::text[] IS NULL OR bundle IS NULL OR \(Self.isNamed))
            """,
            [Int64(days), bundles]
        ).value(as: Int64.self)
        return RecentChecks(
            days: days,
            clients: try counts.map { try $0.weighted() },
            unknown: total - counts.reduce(0) { $0 + $1.checks }
        )
    }

    private static let isNamed = """
        lower(bundle COLLATE "C") IN (SELECT lower(named COLLATE "C") FROM unnest($2::text[]) AS named)
        """

    /// Picks the days; of hours that were rolled up to a day, the whole day.
    static let isRecent = "hour >= date_trunc('day', now() - $1::int8 * interval '1 day', 'UTC')"
}
