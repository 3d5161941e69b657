package import Postgres
package import UpdatePolicy

/// How many checks were locked out: by each lockout in the last 2 hours, and of all checks in the last 24.
package enum LockoutFigures {
    package static func charts(at time: Timestamp, _ session: PostgresSession) -> [ChartQuery] {
        [
            ChartQuery(name: "recent") { try recent($0, at: time, session) },
            ChartQuery(name: "lockouts") { try lastDay($0, at: time, session) },
        ]
    }

    private static func recent(_ name: String, at time: Timestamp, _ session: PostgresSession) throws -> Chart {
        let (step, steps, mostRules): (Int64, Int64, Int) = (300_000_000, 24, 4)
        let last = time.microsecondsSince1970.flooredQuotient(by: step)
        let starts = (0..<steps).map { Timestamp(microsecondsSince1970: (last - steps + 1 + $0) * step) }
        struct Count: Decodable {
            let rule: String
            let start: Timestamp
            let checks, lockouts: Int64
        }
        let counts: [Count] = try session.query(
            """
            SELECT rule, to_timestamp(floor(extract(epoch FROM minute) / 300) * 300) AS start,
                \(CountedTable.sums("checks", "lockouts"))
            FROM public.lockout_counts WHERE minute >= $1::timestamptz AND minute <= $2::timestamptz GROUP BY 1, 2
            """,
            [starts[0], time]
        ).rows()
        let rules = Dictionary(grouping: counts, by: \.rule).map { rule, steps in
            let (checks, lockouts) = steps.reduce((Int64(0), Int64(0))) { ($0.0 + $1.checks, $0.1 + $1.lockouts) }
            return (name: rule, checks: checks, lockouts: lockouts, steps: steps)
        }.sorted { ($1.lockouts, $0.name) < ($0.lockouts, $1.name) }.prefix(mostRules)
        let answer = rules.map { "\($0.name): \(NumberText.share($0.lockouts, ofChecks: $0.checks))" }
        return Chart(
            name: name, question: "How many checks does each lockout lock out?",
            answer: answer.isEmpty
                ? Chart.nothing("the last 2 hours, of apps with a lockout")
                : "\(answer.joined(separator: "; ")) of its apps in the last 2 hours.",
            shape: .lines, unit: .share, axis: .time(starts),
            series: rules.map { rule in
                let steps = Dictionary(rule.steps.map { ($0.start, $0) }) { first, _ in first }
                return Chart.Series(
                    name: rule.name,
                    values: starts.map { steps[$0].flatMap { Chart.share($0.lockouts, of: $0.checks) } }
                )
            },
            marks: try Chart.marks(HistoryFilter(since: starts[0]), session)
        )
    }

    private static func lastDay(_ name: String, at time: Timestamp, _ session: PostgresSession) throws -> Chart {
        let period = CountPeriod(days: 1, at: time)
        let totals = try CountReader(session).totals(of: nil, in: period)
        return chart(name, period, totals, try Chart.marks(HistoryFilter(since: period.start), session))
    }

    static func chart(_ name: String, _ period: CountPeriod, _ totals: [CheckTotals?], _ marks: [Chart.Mark]) -> Chart {
        let all = CheckTotals.sum(totals)
        return Chart(
            name, "How many of all checks were locked out?",
            answer: all.checks == 0
                ? Chart.nothing(period.text)
                : "\(NumberText.share(all.lockouts, ofChecks: all.checks)) of \(period.text).",
            period, [("locked out", totals.map { $0?.lockouts ?? 0 })], of: totals.map { $0?.checks ?? 0 },
            marks: marks
        )
    }
}
