// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import PolicyStore
public import Postgres
public import UpdatePolicy

/// How many of all checks were locked out in the last 24 hours, and whether that has moved.
public struct LockoutFigures: Sendable {
    /// The share hour by hour, with the edits of rules and apps.
    public let chart: Chart
    /// Whether the share of the last two hours is higher than that of the hours before, by at least a percentage point.
    public let hasRisen: Bool
    /// The share of the last two hours in a sentence, and what it was before where it has risen.
    public let summary: String

    /// The rise from which on the share has moved.
    private static let rise = 0.01
    /// How many of the last hours are now: the one that is running may have few checks.
    private static let currentHours = 2

    /// Reads the counts of all apps.
    public init(at time: Timestamp, _ session: PostgresSession) throws {
        let period = CountPeriod(days: 1, at: time)
        let edits =
            try PolicyHistory.isReadable(session)
            ? try PolicyHistory(session).ruleEdits(since: period.start, limit: Chart.mostMarks) : []
        self.init(period, try CountReader(session).totals(of: nil, in: period), edits)
    }

    init(_ period: CountPeriod, _ totals: [CheckTotals?], _ edits: [RuleEdit]) {
        func sum(_ totals: some Sequence<CheckTotals?>) -> CheckTotals {
            totals.reduce(into: .none) { if let totals = $1 { $0 += totals } }
        }
        func share(_ totals: CheckTotals) -> Double {
            totals.checks == 0 ? 0 : Double(totals.lockouts) / Double(totals.checks)
        }
        let all = sum(totals)
        let now = sum(totals.suffix(Self.currentHours))
        let before = sum(totals.dropLast(Self.currentHours))
        hasRisen = Double(now.checks) >= NumberText.fewestJudged && share(now) - share(before) >= Self.rise
        let earlier =
            before.checks == 0
            ? "nothing was counted in the 22 hours before"
            : "\(NumberText.share(Double(before.lockouts), of: Double(before.checks))) in the 22 hours before"
        if now.checks == 0 {
            summary = all.checks == 0 ? "No app asked in the last 24 hours." : "No app asked in the last two hours."
        } else {
            let text = "\(NumberText.share(Double(now.lockouts), of: Double(now.checks))) of the checks are locked out"
            summary = hasRisen ? "\(text), \(earlier)" : "\(text)."
        }
        let checks = totals.map { $0?.checks ?? 0 }
        chart = Chart(
            name: "lockouts",
            question: "How many of all checks were locked out?",
            answer: all.checks == 0
                ? Chart.nothing(period.text)
                : "\(NumberText.share(all.lockouts, ofChecks: all.checks)) of \(period.text)"
                    + (now.checks == 0
                        ? "."
                        : "; \(NumberText.share(Double(now.lockouts), of: Double(now.checks))) in the last two hours,"
                            + " \(earlier)."),
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
            marks: edits.map { $0.mark(namesRule: true) }
        )
    }
}
