/// The share of the counted checks that a rule reaches, now and at each planned step.
///
/// A rule reaches a check when its message would be sent, so not behind a final rule and not in a paused app.
package struct RuleImpact: Sendable {
    /// A time and a rollout at which the rule is judged.
    package struct Stage: Sendable, Equatable {
        package enum Kind: String, Sendable {
            /// The rule as it stands; nobody is reached while it is disabled.
            case now
            /// The rule as it stands, but enabled.
            case enabled
            case step
            /// All installs, at the time from now on that reaches most.
            case everybody
        }

        package let kind: Kind
        /// When; nil: at the best time for each kind of client.
        package let at: Timestamp?
        package let rollout: Percentage
    }

    package struct Reach: Sendable, Equatable {
        package internal(set) var messages = 0.0
        /// Those of them that are locked out.
        package internal(set) var lockouts = 0.0
        /// Those of them that get it without the lockout because they have no way out.
        package internal(set) var withoutWayOut = 0.0

        package init(messages: Double = 0, lockouts: Double = 0, withoutWayOut: Double = 0) {
            (self.messages, self.lockouts, self.withoutWayOut) = (messages, lockouts, withoutWayOut)
        }

        package static func += (left: inout Reach, right: Reach) { left = left.combined(with: right, +) }

        func times(_ factor: Double) -> Reach { combined(with: self) { count, _ in count * factor } }

        mutating func raise(to other: Reach) { self = combined(with: other, max) }

        private func combined(with other: Reach, _ combine: (Double, Double) -> Double) -> Reach {
            Reach(
                messages: combine(messages, other.messages), lockouts: combine(lockouts, other.lockouts),
                withoutWayOut: combine(withoutWayOut, other.withoutWayOut)
            )
        }
    }

    package struct Row: Sendable {
        package let group: ClientGroup
        package internal(set) var checks: Int64 = 0
        package internal(set) var reach: [Reach]
    }

    /// The stages in order of time, `everybody` last.
    package let stages: [Stage]

    /// By app, platform and version; all that checked, also those that are not reached.
    package let rows: [Row]
    package let uncounted: Set<Condition>

    /// Judges a rule.
    /// - Throws: `PolicyError` if the policy cannot be compiled.
    package init(
        of rule: Rule,
        in policy: Policy,
        clients: some Sequence<WeightedClient>,
        at time: Timestamp
    ) throws(PolicyError) {
        let stages = Self.stages(rule, time)
        var unbounded = policy
        for index in policy.rules.indices where policy.rules[index].key == rule.key {
            unbounded.rules[index].enabled = true
            unbounded.rules[index].rollout = .all
            unbounded.rules[index].steps = []
        }
        let compiled = try CompiledPolicy(unbounded)
        var rows: [ClientGroup: Row] = [:]
        var uncounted: Set<Condition> =
            stages.contains { (1..<10_000).contains($0.rollout.hundredths) } ? [.rollout] : []
        for client in clients {
            let group = ClientGroup(client.client)
            let reach = CandidateRules(compiled, client.client)
            var row = rows[group] ?? Row(group: group, reach: stages.map { _ in Reach() })
            row.checks += client.checks
            for (index, stage) in stages.enumerated() {
                let times = stage.at.map { [$0] } ?? reach.moments(after: time).union([time])
                var most = Reach()
                for time in times {
                    most.raise(to: Self.reach(of: rule.key, reach.rules(at: time), &uncounted))
                }
                row.reach[index] += most.times(Double(stage.rollout.hundredths) / 10_000 * Double(client.checks))
            }
            rows[group] = row
        }
        self.stages = stages
        self.rows = rows.values.sorted { $0.group < $1.group }
        self.uncounted = uncounted
    }

    package var checks: Int64 { rows.reduce(0) { $0 + $1.checks } }

    package var total: [Reach] {
        stages.indices.map { stage in rows.reduce(into: Reach()) { $0 += $1.reach[stage] } }
    }

    private static func stages(_ rule: Rule, _ time: Timestamp) -> [Stage] {
        let steps = rule.effectiveSteps.sorted { $0.at < $1.at }
        let rollout = rule.rollout(at: time)
        var stages = [Stage(kind: .now, at: time, rollout: rule.enabled ? rollout : .zero)]
        if !rule.enabled { stages.append(Stage(kind: .enabled, at: time, rollout: rollout)) }
        stages += steps.filter { $0.at > time }.map { Stage(kind: .step, at: $0.at, rollout: $0.rollout) }
        return stages + [Stage(kind: .everybody, at: nil, rollout: .all)]
    }

    /// The largest part of a kind of client that the rule reaches at one time.
    private static func reach(of key: String, _ rules: [RuleReach], _ uncounted: inout Set<Condition>) -> Reach {
        guard let own = rules.firstIndex(where: { $0.rule.key == key }) else { return Reach() }
        var part = 1.0
        for reach in rules[..<own] where reach.isFinal {
            part *= 1 - reach.least
            uncounted.formUnion(reach.uncounted)
        }
        uncounted.formUnion(rules[own].uncounted)
        return Reach(
            messages: part, lockouts: rules[own].locksOut ? part : 0,
            withoutWayOut: rules[own].delivery == .withoutWayOut ? part : 0
        )
    }
}
