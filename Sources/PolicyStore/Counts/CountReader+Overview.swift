// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Postgres

extension CountReader {
    /// The apps with their checks of the last 24 hours, and the sums over all apps, shown or not.
    public func appRows(limit: Int) throws -> AppRows {
        let columns = ["checks", "messages", "lockouts", "checks_before", "messages_before", "lockouts_before"]
        let rows = try session.query(
            """
            WITH counted AS (
                SELECT lower(bundle COLLATE "C") AS bundle,
                    sum(checks) FILTER (WHERE is_last) AS checks,
                    sum(messages) FILTER (WHERE is_last) AS messages,
                    sum(lockouts) FILTER (WHERE is_last) AS lockouts,
                    sum(checks) FILTER (WHERE NOT is_last) AS checks_before,
                    sum(messages) FILTER (WHERE NOT is_last) AS messages_before,
                    sum(lockouts) FILTER (WHERE NOT is_last) AS lockouts_before
                FROM (
                    SELECT bundle, hour > now() - interval '24 hours' AS is_last,
                        sum(checks) AS checks, sum(messages) AS messages, sum(lockouts) AS lockouts
                    FROM public.check_counts
                    WHERE hour > now() - interval '48 hours' AND \(Self.isOver) AND bundle IS NOT NULL
                    GROUP BY 1, 2
                ) AS spelled
                GROUP BY 1
            )
            SELECT app.bundle, app.name, app.paused, count(*) OVER (),
                \(columns.map { CountedTable.bounded("counted.\($0)") }.joined(separator: ", ")),
                \(columns.map { CountedTable.bounded("sum(counted.\($0)) OVER ()") }.joined(separator: ", "))
            FROM public.apps AS app LEFT JOIN counted ON counted.bundle = lower(app.bundle COLLATE "C")
            ORDER BY coalesce(counted.lockouts::float8 / nullif(counted.checks, 0), 0) DESC,
                coalesce(counted.checks, 0) DESC, app.bundle
            LIMIT $1
            """,
            [Int64(limit)]
        )
        func totals(_ row: PostgresRow, _ first: Int) throws -> CheckTotals {
            CheckTotals(
                checks: try row.decode(first, as: Int64.self),
                messages: try row.decode(first + 1, as: Int64.self),
                lockouts: try row.decode(first + 2, as: Int64.self)
            )
        }
        return AppRows(
            rows: try rows.map { row in
                AppRow(
                    bundle: try row.decode(0, as: String.self),
                    name: try row.decode(1, as: String?.self),
                    paused: try row.decode(2, as: Bool.self),
                    last: try totals(row, 4),
                    before: try totals(row, 7)
                )
            },
            count: try rows.first?.decode(3, as: Int64.self) ?? 0,
            last: try rows.first.map { try totals($0, 10) } ?? .none,
            before: try rows.first.map { try totals($0, 13) } ?? .none
        )
    }
}
