package import Postgres
package import UpdatePolicy

/// How many of all checks were locked out in the last 24 hours. What is so now says ``LockoutShare``.
package struct LockoutFigures: Sendable {
    /// The share hour by hour, with the edits of rules and apps.
    package let chart: Chart

    /// The charts of all apps: this one alone.
    package static func charts(at time: Timestamp, _ session: PostgresSession) -> [ChartQuery] {
        [ChartQuery(chartName) { _ in try LockoutFigures(at: time, session).chart }]
    }

    private static let chartName = "lockouts"

    /// Reads the counts of all apps.
    package init(at time: Timestamp, _ session: PostgresSession) throws {
        let period = CountPeriod(days: 1, at: time)
        let totals = try CountReader(session).totals(of: nil, in: period)
        let marks = try Chart.marks(session) { try $0.ruleEdits(since: period.start, limit: Chart.mostMarks) }
        self.init(period, totals, marks)
    }

    init(_ period: CountPeriod, _ totals: [CheckTotals?], _ marks: [Chart.Mark]) {
        let all = CheckTotals.sum(totals)
        let checks = totals.map { $0?.checks ?? 0 }
        chart = Chart(
            name: Self.chartName,
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
}
