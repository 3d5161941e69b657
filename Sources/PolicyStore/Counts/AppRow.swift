import Postgres
package import UpdatePolicy

/// An app with its checks.
package struct AppRow: Sendable {
    /// The app.
    package let app: App
    /// The checks of the last 24 hours.
    package let last: CheckTotals
    /// The checks of the 24 hours before those.
    package let before: CheckTotals
}

extension CountReader {
    /// Some apps with their checks: the greatest share of lockouts in the last 24 hours first, then those with most checks.
    package func rows(of apps: [App]) throws -> [AppRow] {
        let counted = try checksByApp()
        let rows = apps.map { app in
            let checks = counted[ASCII.lowercased(app.bundle)]
            return AppRow(app: app, last: checks?.last ?? .none, before: checks?.before ?? .none)
        }
        return rows.sorted { left, right in
            let (share, other) = (left.last.lockoutPart, right.last.lockoutPart)
            if share != other { return share > other }
            if left.last.checks != right.last.checks { return left.last.checks > right.last.checks }
            return UTF8Text(left.app.bundle) < UTF8Text(right.app.bundle)
        }
    }

    /// The checks of the last 24 hours and of those before by app, its bundle in lower case.
    private func checksByApp() throws -> [String: (last: CheckTotals, before: CheckTotals)] {
        let columns = ["checks", "messages", "lockouts"]
        let sums = ["is_last", "NOT is_last"].flatMap { period in
            columns.map { CountedTable.bounded("sum(\($0)) FILTER (WHERE \(period))") }
        }
        var checks: [String: (last: CheckTotals, before: CheckTotals)] = [:]
        for row in try session.query(
            """
            SELECT lower(bundle COLLATE "C"), \(sums.joined(separator: ", ")) FROM (
                SELECT bundle, hour > now() - interval '24 hours' AS is_last,
                    \(columns.map { "sum(\($0)) AS \($0)" }.joined(separator: ", "))
                FROM public.check_counts
                WHERE hour > now() - interval '48 hours' AND \(Self.isOver) AND bundle IS NOT NULL
                GROUP BY 1, 2
            ) AS spelled
            GROUP BY 1
            """
        ) {
            func totals(_ first: Int) throws -> CheckTotals {
                CheckTotals(
                    checks: try row.decode(first, as: Int64.self), messages: try row.decode(first + 1, as: Int64.self),
                    lockouts: try row.decode(first + 2, as: Int64.self)
                )
            }
            checks[try row.decode(0, as: String.self)] = (try totals(1), try totals(4))
        }
        return checks
    }
}
