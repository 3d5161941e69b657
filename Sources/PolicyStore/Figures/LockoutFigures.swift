package import Postgres
package import UpdatePolicy

/// How many checks were locked out: by each lockout in the last 2 hours, and of all checks in the last 24.
package enum LockoutFigures {
    /// The charts of all apps, as a policy of now has them.
    package static func charts(at time: Timestamp, _ session: PostgresSession) -> [ChartQuery] {
        [
            ChartQuery("recent") { try recent($0, at: time, session) },
            ChartQuery("lockouts") { try lastDay($0, at: time, session) },
        ]
    }

    // MARK: - The last 2 hours

    private static let step: Int64 = 300_000_000
    private static let steps: Int64 = 24
    /// The most lockouts that have a line.
    private static let mostRules = 4

    private static func recent(_ name: String, at time: Timestamp, _ session: PostgresSession) throws -> Chart {
        let last = time.microsecondsSince1970.flooredQuotient(by: step)
        let starts = (0..<steps).map { Timestamp(microsecondsSince1970: (last - steps + 1 + $0) * step) }
        var counts: [String: [Int64: (checks: Int64, lockouts: Int64)]] = [:]
        for row in try session.query(
            """
            SELECT rule, floor(extract(epoch FROM minute) / 300)::int8, \(CountedTable.bounded("sum(checks)")),
                \(CountedTable.bounded("sum(lockouts)"))
            FROM public.lockout_counts WHERE minute >= $1::timestamptz AND minute <= $2::timestamptz GROUP BY 1, 2
            """,
            [PostgresTimestamp(starts[0]), PostgresTimestamp(time)]
        ) {
            counts[try row.decode(0, as: String.self), default: [:]][try row.decode(1, as: Int64.self)] = (
                try row.decode(2, as: Int64.self), try row.decode(3, as: Int64.self)
            )
        }
        let rules = counts.map { rule, steps in
            let checks = steps.values.reduce(0) { $0 + $1.checks }
            let lockouts = steps.values.reduce(0) { $0 + $1.lockouts }
            return (rule: rule, checks: checks, lockouts: lockouts)
        }.sorted { ($1.lockouts, $0.rule) < ($0.lockouts, $1.rule) }.prefix(mostRules)
        let answer = rules.map { "\($0.rule): \(NumberText.share($0.lockouts, ofChecks: $0.checks))" }
        return Chart(
            name: name,
            question: "How many checks does each lockout lock out?",
            answer: answer.isEmpty
                ? Chart.nothing("the last 2 hours, of apps with a lockout")
                : "\(answer.joined(separator: "; ")) of its apps in the last 2 hours.",
            shape: .lines,
            unit: .share,
            axis: .time(starts),
            series: rules.map { rule in
                Chart.Series(
                    name: rule.rule,
                    values: (0..<steps).map { index in
                        counts[rule.rule]?[last - steps + 1 + index].flatMap {
                            $0.checks > 0 ? Double($0.lockouts) / Double($0.checks) : nil
                        }
                    }
                )
            },
            marks: try marks(since: starts[0], session)
        )
    }

    // MARK: - The last 24 hours

    private static func lastDay(_ name: String, at time: Timestamp, _ session: PostgresSession) throws -> Chart {
        let period = CountPeriod(days: 1, at: time)
        let totals = try CountReader(session).totals(of: nil, in: period)
        return chart(name, period, totals, try marks(since: period.start, session))
    }

    static func chart(
        _ name: String,
        _ period: CountPeriod,
        _ totals: [CheckTotals?],
        _ marks: [Chart.Mark]
    ) -> Chart {
        let all = CheckTotals.sum(totals)
        let checks = totals.map { $0?.checks ?? 0 }
        return Chart(
            name: name,
            question: "How many of all checks were locked out?",
            answer: all.checks == 0
                ? Chart.nothing(period.text)
                : "\(NumberText.share(all.lockouts, ofChecks: all.checks)) of \(period.text).",
            shape: .lines,
            unit: .share,
            axis: .time(period.starts),
            series: [
                Chart.Series(name: "locked out", values: Chart.shares(totals.map { $0?.lockouts ?? 0 }, of: checks))
            ],
            checks: checks,
            marks: marks
        )
    }

    private static func marks(since time: Timestamp, _ session: PostgresSession) throws -> [Chart.Mark] {
        try Chart.marks(HistoryFilter(since: time, ofRules: true, limit: Chart.mostMarks), session)
    }
}
