package import Postgres
package import UpdatePolicy

/// All that was counted of one rule, and its reach by the claims of clients.
package struct RuleFigures: Sendable {
    package let rule: Rule
    /// Whether its app is paused, so that it reaches nobody.
    package let isPaused: Bool
    /// The checks by which its reach is judged.
    package let recent: RecentChecks
    /// Its reach now and at each step of its ramp.
    package let impact: RuleImpact
    /// Pre-releases with the numbers of a release, which ranges may reach unexpectedly.
    package let preReleases: [PreReleaseMatch]
    /// The charts: reach, sent.
    package let charts: [Chart]

    /// Reads them, as ``RuleCounts`` does, and all at once.
    package init(of rule: Rule, in policy: Policy, days: Int, at time: Timestamp, _ session: PostgresSession) throws {
        let counts = RuleCounts(of: rule, in: policy, days: days, at: time, session)
        self.rule = rule
        isPaused = policy.apps.contains { $0.paused && $0.bundle == rule.bundle }
        recent = try counts.recent.get()
        impact = try counts.impact()
        preReleases = PreReleaseMatch.matches(among: recent.clients, releases: policy.releases)
        charts = try counts.charts.map { try $0.chart() }
    }
}

/// What was counted of one rule. Each part is read when it is first asked for, within one transaction.
package final class RuleCounts {
    private let rule: Rule
    private let policy: Policy
    private let days: Int
    private let period: CountPeriod
    private let time: Timestamp
    private let reader: CountReader

    /// Prepares to read.
    ///
    /// - Parameters:
    ///   - policy: What its app has, and the rules for every app; for a rule for every app all apps.
    ///   - days: How many days before `time`; one day is the last 24 hours in the chart of what was sent.
    package init(of rule: Rule, in policy: Policy, days: Int, at time: Timestamp, _ session: PostgresSession) {
        self.rule = rule
        self.policy = policy
        self.days = days
        self.time = time
        period = CountPeriod(days: days, at: time)
        reader = CountReader(session)
    }

    private(set) lazy var recent = Result {
        try reader.recentChecks(days: days, bundles: rule.bundle.map { [$0] })
    }

    func impact() throws -> RuleImpact {
        try RuleImpact(of: rule, in: policy, clients: recent.get().clients, at: time)
    }

    /// The charts: reach, sent.
    package var charts: [ChartQuery] { [ChartQuery("reach", reachChart), ChartQuery("sent", sentChart)] }

    // MARK: - Reach

    /// The reach of the rule now, and at each step that is planned.
    private func reachChart(_ name: String) throws -> Chart {
        let impact = try impact()
        let whole = Double(impact.checks)
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
        let names = stages.map { Self.name(of: $0.0) }
        return Chart(
            name: name,
            question: "Who does \(rule.key) reach?",
            answer: reachAnswer(impact),
            shape: .bars,
            unit: .share,
            axis: .names(names.map { $0.text(at: nil, time: NumberText.minute) }),
            sentences: names,
            series: rule.lockout
                ? [
                    Chart.Series(name: Chart.lockout, values: shares(\.lockouts)),
                    Chart.Series(name: "message alone", values: shares { max(0, $0.messages - $0.lockouts) }),
                ] : [Chart.Series(name: "message", values: shares(\.messages))],
            checks: stages.map { _ in impact.checks }
        )
    }

    private func reachAnswer(_ impact: RuleImpact) -> String {
        let period = "the last \(days == 1 ? "day" : "\(days) days")"
        guard impact.checks > 0, let now = impact.total.first, let all = impact.total.last else {
            return Chart.nothing(period)
        }
        let whole = Double(impact.checks)
        func text(_ reach: RuleImpact.Reach, _ when: String) -> String {
            let lockouts = rule.lockout ? ", \(NumberText.share(reach.lockouts, of: whole)) with the lockout" : ""
            return "\(NumberText.share(reach.messages, of: whole)) \(when)\(lockouts)"
        }
        // A share of a rollout is what is expected; what is not counted makes it a bound.
        let precision = impact.uncounted.subtracting([.rollout]).isEmpty ? "about" : "at most"
        return "Of the \(NumberText.checks(impact.checks)) of \(period) it reaches \(precision) \(text(now, "now"))"
            + "; \(text(all, "at 100 %"))."
    }

    private static func name(of stage: RuleImpact.Stage) -> Sentence {
        switch stage.kind {
        case .now: "now (\(stage.rollout) %)"
        case .enabled: "if enabled (\(stage.rollout) %)"
        case .step:
            stage.at.map { time -> Sentence in "from \(time: time) (\(stage.rollout) %)" }
                ?? "step (\(stage.rollout) %)"
        case .everybody: "at 100 %"
        }
    }

    // MARK: - Sent

    /// The messages of the rule over time, with its edits.
    private func sentChart(_ name: String) throws -> Chart {
        let sent = try reader.sent(ofRule: rule.key, in: period)
        func total(_ counts: [SentTotals?]) -> SentTotals {
            counts.reduce(SentTotals(sent: 0, lockouts: 0)) {
                SentTotals(sent: $0.sent + ($1?.sent ?? 0), lockouts: $0.lockouts + ($1?.lockouts ?? 0))
            }
        }
        let all = total(sent)
        func times(_ counts: SentTotals) -> String {
            let lockouts = all.lockouts == 0 ? "" : ", \(NumberText.count(counts.lockouts)) with the lockout"
            return "\(NumberText.count(counts.sent)) \(counts.sent == 1 ? "time" : "times")\(lockouts)"
        }
        var answer = "It was not sent in \(period.text)."
        if all.sent > 0 {
            answer = "In \(period.text) it was sent \(times(all))"
            if period.step == .day {
                let lastDay = try reader.sent(ofRule: rule.key, in: CountPeriod(days: 1, at: time))
                answer += "; in the last 24 hours \(times(total(lastDay)))"
            }
            answer += "."
        }
        return Chart(
            name: name,
            question: "How often is \(rule.key) sent?",
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
            marks: try Chart.marks(
                HistoryFilter(rule: rule.key, since: period.start, limit: Chart.mostMarks), reader.session
            )
        )
    }
}
