/// The rules of one policy that may match clients of one kind, at any time and with any uncounted members.
struct CandidateRules {
    private let policy: CompiledPolicy
    private let asker: Asker
    private let app: CompiledApp?
    private let candidates: [Candidate]

    private struct Candidate {
        let reference: RuleReference
        /// What it asks for that is not counted.
        let uncountedConditions: [Condition: PolicyValue]
    }

    init(_ policy: CompiledPolicy, _ client: Client) {
        self.policy = policy
        asker = Asker(counted: client)
        app = policy.app(of: client)
        var evaluator = Evaluator(policy, app, asker, at: .earliest)
        candidates = policy.rules(of: app).compactMap { reference in
            let verdict = evaluator.verdict([.enabled, .paused] + Condition.onClients, of: reference)
            if verdict == .unmet { return nil }
            let uncounted = verdict == .met ? [] : Condition.uncounted.subtracting([.rollout])
            let asked = uncounted.map { ($0, $0.value(in: reference.row)) }.filter { $0.1 != .null }
            return Candidate(reference: reference, uncountedConditions: Dictionary(uniqueKeysWithValues: asked))
        }
    }

    var mayLockOut: Bool {
        candidates.contains { $0.reference.flags.contains(.lockout) }
    }

    /// The rules that are met at a time, in the order of their messages, none behind one that is final for everybody.
    func rules(at time: Timestamp) -> [RuleReach] {
        var rules: [RuleReach] = []
        var evaluator = Evaluator(policy, app, asker, at: time)
        for candidate in candidates {
            let reference = candidate.reference
            let share = Int(reference.group.rollout(of: reference.rule, at: evaluator.time))
            guard share > 0, evaluator.verdict([.startsAt, .endsAt, .target], of: reference) == .met else { continue }
            let isLockout = reference.flags.contains(.lockout)
            let delivery: RuleReach.Delivery =
                !isLockout ? .message : evaluator.isLockedOut(by: reference) ? .lockout : .withoutWayOut
            let reach = RuleReach(
                rule: reference.row, delivery: delivery, share: share,
                uncountedConditions: candidate.uncountedConditions,
                isFinal: reference.flags.contains(.final)
            )
            rules.append(reach)
            if reach.isFinal, reach.isCertain { break }
        }
        return rules
    }

    /// The times after another at which these clients may get something else.
    func moments(after time: Timestamp) -> Set<Timestamp> {
        var moments: Set<Int64> = []
        let releases = app?.releases(on: policy.platformNumbers.number(of: asker.client))?.releases ?? []
        for reference in candidates.map(\.reference) {
            let rule = reference.rule
            moments.formUnion([rule.startsAt, rule.endsAt])
            moments.formUnion(reference.group.pools.steps[rule.steps.indices].map(\.at))
            guard rule.flags.contains(.hasTarget) || rule.flags.contains(.needsWayOut) else { continue }
            for release in releases where release.liveAt < .max {
                let (soaked, overflow) = release.liveAt.addingReportingOverflow(rule.soak)
                if !overflow { moments.insert(soaked) }
                moments.insert(release.withdrawnAt)
            }
        }
        return Set(moments.map(Timestamp.init(microsecondsSince1970:)).filter { time < $0 && $0 < .latest })
    }
}

/// A rule that reaches the clients of one kind at one time, judged by the counted conditions.
struct RuleReach {
    enum Delivery: Equatable {
        case message
        case lockout
        /// The message of a lockout without the lockout, because there is no way out.
        case withoutWayOut
    }

    let rule: Rule
    let delivery: Delivery

    /// The rollout, in hundredths of a percent; above 0.
    let share: Int

    /// What the rule asks for that is not counted.
    let uncountedConditions: [Condition: PolicyValue]
    let isFinal: Bool
    var locksOut: Bool { delivery == .lockout }
    var isCertain: Bool { share == 10_000 && uncountedConditions.isEmpty }

    /// The largest part of the kind that is reached, 0 to 1.
    var most: Double { Double(share) / 10_000 }

    /// The least part of the kind that is reached, 0 to 1.
    var least: Double { uncountedConditions.isEmpty ? most : 0 }

    var uncounted: Set<Condition> { Set(uncountedConditions.keys).union(share < 10_000 ? [.rollout] : []) }
}
