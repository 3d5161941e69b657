import Postgres
package import UpdatePolicy

package struct AppRow: Sendable {
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
        var checks: [String: (last: CheckTotals, before: CheckTotals)] = [:]
        for (row, totals) in zip(counted, try counted.rows(as: CheckTotals.self)) {
            let app = try row.decode("app", as: String.self)
            if try row.decode("is_last") {
                checks[app, default: (.none, .none)].last = totals
            } else {
                checks[app, default: (.none, .none)].before = totals
            }
        }
        return checks
    }
}
