package import Postgres
package import UpdatePolicy

/// What was counted of one rule. Each part is read when it is first asked for, within one transaction.
package final class RuleCounts {
    package let rule: Rule
    private let policy: Policy
    private let period: CountPeriod
    private let time: Timestamp
    private let reader: CountReader

    /// - Parameter policy: What its app has, and the rules for every app; for a rule for every app all apps.
    package init(of rule: Rule, in policy: Policy, days: Int, at time: Timestamp, _ session: PostgresSession) {
        (self.rule, self.policy, self.time) = (rule, policy, time)
        period = CountPeriod(days: days, at: time)
        reader = CountReader(session)
    }

    private lazy var recentChecks = Result {
        try reader.recentChecks(days: period.days, bundles: rule.bundle.map { [$0] })
    }

    package func recent() throws -> RecentChecks { try recentChecks.get() }

    package func impact() throws -> RuleImpact {
        try RuleImpact(of: rule, in: policy, clients: recent().clients, at: time)
    }

    package var isPaused: Bool { policy.apps.contains { $0.paused && $0.bundle == rule.bundle } }

    package func preReleases() throws -> [PreReleaseMatch] {
        PreReleaseMatch.matches(among: try recent().clients.map(\.counted), releases: policy.releases)
    }

    package var charts: [ChartQuery] {
        [ChartQuery(name: "reach", make: reachChart), ChartQuery(name: "sent", make: sentChart)]
    }

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
        let names = stages.map { Self.name(of: $0.0) }
        return Chart(
            name: name, question: "Who does \(rule.key) reach?", answer: reachAnswer(impact), shape: .bars,
            unit: .share, axis: .names(names.map { $0.text(at: nil, time: NumberText.minute) }), sentences: names,
            series: Self.series(
                stages.map { whole > 0 ? ($0.1.messages / whole, $0.1.lockouts / whole) : nil }, splits: rule.lockout),
            checks: stages.map { _ in impact.checks }
        )
    }

    private func reachAnswer(_ impact: RuleImpact) -> String {
        let period = "the last \(period.days == 1 ? "day" : "\(period.days) days")"
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

    /// Messages, or those with the lockout apart from those without.
    private static func series(_ values: [(messages: Double, lockouts: Double)?], splits: Bool) -> [Chart.Series] {
        guard splits else { return [Chart.Series(name: "message", values: values.map { $0?.messages })] }
        return [
            Chart.Series(name: Chart.lockout, values: values.map { $0?.lockouts }),
            Chart.Series(name: "message alone", values: values.map { $0.map { max(0, $0.messages - $0.lockouts) } }),
        ]
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

    private func sentChart(_ name: String) throws -> Chart {
        let sent = try reader.sent(ofRule: rule.key, in: period)

        func total(_ counts: [SentTotals?]) -> SentTotals {
            let counts = counts.compactMap(\.self)
            return SentTotals(sent: counts.reduce(0) { $0 + $1.sent }, lockouts: counts.reduce(0) { $0 + $1.lockouts })
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
            name: name, question: "How often is \(rule.key) sent?", answer: answer, shape: .stackedAreas,
            unit: .checks, axis: .time(period.starts),
            series: Self.series(
                sent.map { $0.map { (Double($0.sent), Double($0.lockouts)) } }, splits: all.lockouts > 0),
            marks: try Chart.marks(HistoryFilter(rule: rule.key, since: period.start), reader.session)
        )
    }
}
