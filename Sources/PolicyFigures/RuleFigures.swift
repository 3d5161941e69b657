// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

public import PolicyStore
public import Postgres
public import UpdatePolicy

/// The counts of one rule and its reach: by claims of clients.
public struct RuleFigures: Sendable {
    /// The key of the rule.
    public let key: String
    /// The rule; nil where there is none of this key.
    public let rule: Rule?
    /// Whether its app is paused, so that it reaches nobody.
    public let isPaused: Bool
    /// The steps of time.
    public let period: CountPeriod
    /// The checks by which its reach is judged; nil where there is no such rule.
    public let recent: RecentChecks?
    /// Its reach now and at each step of its ramp; nil where there is no such rule.
    public let impact: RuleImpact?
    /// Pre-releases with the numbers of a release, which ranges may reach unexpectedly.
    public let preReleases: [PreReleaseMatch]
    /// The charts: reach, sent.
    public let charts: [Chart]

    /// The days that the figures cover.
    public var days: Int { period.days }

    /// Reads the counts of a rule; of one that is not there, there may be some of the past.
    ///
    /// - Parameters:
    ///   - key: The key of the rule.
    ///   - days: How many days before `time`; one day is the last 24 hours in the chart of what was sent.
    ///   - time: Now.
    public init(key: String, days: Int, at time: Timestamp, _ session: PostgresSession) throws {
        let reader = CountReader(session)
        self.key = key
        let period = CountPeriod(days: days, at: time)
        self.period = period
        if let bundle = try PolicyReader.bundle(ofRule: key, session) {
            let bundles = bundle.map { [$0] }
            let policy = try PolicyReader.policy(session, bundles: bundles)
            let recent = try reader.recentChecks(days: days, bundles: bundles)
            let rule = policy.rules.first { $0.key == key }
            self.rule = rule
            self.recent = recent
            isPaused = policy.apps.contains { $0.paused && $0.bundle == rule?.bundle }
            impact = try RuleImpact(of: key, in: policy, clients: recent.clients, at: time)
            preReleases = PreReleaseMatch.matches(among: recent.clients, releases: policy.releases)
        } else {
            (rule, recent, impact, isPaused, preReleases) = (nil, nil, nil, false, [])
        }
        let sent = try reader.sent(ofRule: key, in: period)
        let lastDay = try reader.sent(ofRule: key, in: CountPeriod(days: 1, at: time))
        let edits =
            try PolicyHistory.isReadable(session)
            ? try PolicyHistory(session).ruleEdits(ofRule: key, since: period.start, limit: Chart.mostMarks) : []
        var charts: [Chart] = []
        if let impact { charts.append(Self.reachChart(impact, of: rule, days: days)) }
        charts.append(Self.sentChart(key, period, sent, lastDay: lastDay, edits))
        self.charts = charts
    }

    /// The reach of the rule now, and at each step that is planned.
    private static func reachChart(_ impact: RuleImpact, of rule: Rule?, days: Int) -> Chart {
        let whole = Double(impact.checks)
        let locksOut = rule?.lockout ?? false
        var stages = Array(zip(impact.stages, impact.total))
        // A ramp that ends at 100 %, or a rule that is there, has that bar already, but where more is reached later: with
        // a release to come.
        if let last = stages.last, let before = stages.dropLast().last, last.0.kind == .everybody,
            before.0.rollout == .all, before.1 == last.1
        {
            stages.removeLast()
        }
        func shares(_ part: (RuleImpact.Reach) -> Double) -> [Double?] {
            stages.map { whole > 0 ? part($0.1) / whole : nil }
        }
        return Chart(
            name: "reach",
            question: "Whom does \(rule?.key ?? "the rule") reach?",
            answer: reachAnswer(impact, locksOut, days),
            shape: .bars,
            unit: .share,
            axis: .names(stages.map { name(of: $0.0) }),
            series: locksOut
                ? [
                    Chart.Series(name: Chart.lockout, values: shares(\.lockouts)),
                    Chart.Series(name: "message alone", values: shares { max(0, $0.messages - $0.lockouts) }),
                ] : [Chart.Series(name: "message", values: shares(\.messages))],
            checks: stages.map { _ in impact.checks }
        )
    }

    private static func reachAnswer(_ impact: RuleImpact, _ locksOut: Bool, _ days: Int) -> String {
        let period = "the last \(days == 1 ? "day" : "\(days) days")"
        guard impact.checks > 0, let now = impact.total.first, let all = impact.total.last else {
            return Chart.nothing(period)
        }
        let whole = Double(impact.checks)
        func share(_ part: Double) -> String { NumberText.share(part, of: whole) }
        func lockouts(_ reach: RuleImpact.Reach) -> String {
            locksOut ? ", \(share(reach.lockouts)) with the lockout" : ""
        }
        return "Of the \(NumberText.checks(impact.checks)) of \(period) it reaches at most \(share(now.messages)) now"
            + "\(lockouts(now)); \(share(all.messages)) at 100 %\(lockouts(all))."
    }

    private static func name(of stage: RuleImpact.Stage) -> String {
        switch stage.kind {
        case .now: "now (\(stage.rollout) %)"
        case .enabled: "if enabled (\(stage.rollout) %)"
        case .step: "\(stage.at.map { "from \($0)" } ?? "step") (\(stage.rollout) %)"
        case .everybody: "at 100 %"
        }
    }

    /// The messages of the rule over time, with its edits.
    private static func sentChart(
        _ key: String,
        _ period: CountPeriod,
        _ sent: [(sent: Int64, lockouts: Int64)?],
        lastDay: [(sent: Int64, lockouts: Int64)?],
        _ edits: [RuleEdit]
    ) -> Chart {
        func total(_ counts: [(sent: Int64, lockouts: Int64)?]) -> (sent: Int64, lockouts: Int64) {
            counts.reduce((sent: 0, lockouts: 0)) { ($0.sent + ($1?.sent ?? 0), $0.lockouts + ($1?.lockouts ?? 0)) }
        }
        let all = total(sent)
        func times(_ counts: (sent: Int64, lockouts: Int64)) -> String {
            let lockouts = all.lockouts == 0 ? "" : ", \(NumberText.count(counts.lockouts)) with the lockout"
            return "\(NumberText.count(counts.sent)) \(counts.sent == 1 ? "time" : "times")\(lockouts)"
        }
        let answer =
            all.sent == 0
            ? "It was not sent in \(period.text)."
            : "In \(period.text) it was sent \(times(all))"
                + (period.step == .hour ? "." : "; in the last 24 hours \(times(total(lastDay))).")
        return Chart(
            name: "sent",
            question: "How often is \(key) sent?",
            answer: answer,
            shape: .stackedAreas,
            unit: .checks,
            axis: .time(period.starts),
            series: all.lockouts == 0
                ? [Chart.Series(name: "message", values: sent.map { $0.map { Double($0.sent) } })]
                : [
                    Chart.Series(name: Chart.lockout, values: sent.map { $0.map { Double($0.lockouts) } }),
                    Chart.Series(name: "message alone", values: sent.map { $0.map { Double($0.sent - $0.lockouts) } }),
                ],
            marks: edits.map { $0.mark(namesRule: false) }
        )
    }
}
