// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

package import Postgres
package import UpdatePolicy

/// How many of all checks were locked out in the last 24 hours, and whether that has moved.
package struct LockoutFigures: Sendable {
    /// The share hour by hour, with the edits of rules and apps.
    package let chart: Chart
    /// Whether the share of the last two hours is higher than that of the hours before, by at least a percentage point.
    package let hasRisen: Bool
    /// The share of the last two hours in a sentence, and what it was before where it has risen.
    package let summary: String

    /// The rise from which on the share has moved.
    package static let rise = 0.01
    /// How many of the last hours are now: the one that is running may have few checks.
    private static let currentHours = 2

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
        let now = CheckTotals.sum(totals.suffix(Self.currentHours))
        let before = CheckTotals.sum(totals.dropLast(Self.currentHours))
        hasRisen = Double(now.checks) >= NumberText.fewestJudged && now.lockoutPart - before.lockoutPart >= Self.rise
        let earlier =
            before.checks == 0
            ? "nothing was counted in the 22 hours before"
            : "\(before.lockoutShare) in the 22 hours before"
        if now.checks == 0 {
            summary = all.checks == 0 ? "No app asked in the last 24 hours." : "No app asked in the last two hours."
        } else {
            let text = "\(now.lockoutShare) of the checks are locked out"
            summary = hasRisen ? "\(text), \(earlier)" : "\(text)."
        }
        let checks = totals.map { $0?.checks ?? 0 }
        chart = Chart(
            name: Self.chartName,
            question: "How many of all checks were locked out?",
            answer: all.checks == 0
                ? Chart.nothing(period.text)
                : "\(NumberText.share(all.lockouts, ofChecks: all.checks)) of \(period.text)"
                    + (now.checks == 0
                        ? "."
                        : "; \(now.lockoutShare) in the last two hours, \(earlier)."),
            shape: .lines,
            unit: .share,
            axis: .time(period.starts),
            series: [
                Chart.Series(
                    // A series of this name is drawn in the colour of lockouts.
                    name: hasRisen ? Chart.lockout : "locked out",
                    values: Chart.shares(totals.map { $0?.lockouts ?? 0 }, of: checks)
                )
            ],
            checks: checks,
            marks: marks
        )
    }
}
