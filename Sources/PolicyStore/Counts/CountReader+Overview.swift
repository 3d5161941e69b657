// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Postgres

extension CountReader {
    /// The apps with their checks of the last 24 hours: the greatest share of lockouts first, then most checks.
    public func busiestApps(limit: Int) throws -> [AppRow] {
        try session.query(
            """
            SELECT app.bundle, app.name, app.paused, coalesce(counted.checks, 0), coalesce(counted.messages, 0),
                coalesce(counted.lockouts, 0)
            FROM public.apps AS app LEFT JOIN (
                SELECT lower(bundle COLLATE "C") AS bundle, sum(checks)::int8 AS checks, sum(messages)::int8 AS messages,
                    sum(lockouts)::int8 AS lockouts
                FROM (
                    SELECT bundle, sum(checks) AS checks, sum(messages) AS messages, sum(lockouts) AS lockouts
                    FROM public.check_counts
                    WHERE hour > now() - interval '24 hours' AND \(Self.isOver) AND bundle IS NOT NULL
                    GROUP BY 1
                ) AS spelled
                GROUP BY 1
            ) AS counted ON counted.bundle = lower(app.bundle COLLATE "C")
            ORDER BY coalesce(counted.lockouts::float8 / nullif(counted.checks, 0), 0) DESC,
                coalesce(counted.checks, 0) DESC, app.bundle
            LIMIT $1
            """,
            [Int64(limit)]
        ).map { row in
            AppRow(
                bundle: try row.decode(0, as: String.self),
                name: try row.decode(1, as: String?.self),
                paused: try row.decode(2, as: Bool.self),
                checks: try row.decode(3, as: Int64.self),
                messages: try row.decode(4, as: Int64.self),
                lockouts: try row.decode(5, as: Int64.self)
            )
        }
    }

    /// How many apps the policy has.
    public func appCount() throws -> Int64 {
        try session.query("SELECT count(*) FROM public.apps").value(as: Int64.self)
    }
}
