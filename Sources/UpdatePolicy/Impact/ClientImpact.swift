/// The impact of an edit on the clients of one kind, as shares of one.
struct ClientImpact {
    private(set) var now = ImpactCounts()
    private(set) var lockouts: [ImpactCurve.Moment] = []
    /// Who gets a message and would get none without the edit, from now on.
    private(set) var messages: [ImpactCurve.Moment] = []
    private(set) var uncounted: Set<Condition> = []
    private(set) var leftOut: Set<Condition> = []

    /// The most future times that are judged; clients with more planned changes count as locked out.
    private static let mostMoments = 512

    init(_ before: CompiledPolicy, _ after: CompiledPolicy, _ client: Client, at time: Timestamp) {
        let reachBefore = CandidateRules(before, client)
        let reachAfter = CandidateRules(after, client)
        now = judge(reachBefore, reachAfter, at: time)
        let times = reachBefore.moments(after: time).union(reachAfter.moments(after: time)).sorted()
        guard times.count <= Self.mostMoments else {
            messages.append(.init(at: times[0], part: 1, rule: nil))
            if reachAfter.mayLockOut { lockouts.append(.init(at: times[0], part: 1, rule: nil)) }
            return
        }
        for time in times { _ = judge(reachBefore, reachAfter, at: time) }
    }

    private mutating func judge(
        _ reachBefore: CandidateRules,
        _ reachAfter: CandidateRules,
        at time: Timestamp
    ) -> ImpactCounts {
        let allBefore = reachBefore.rules(at: time)
        let allAfter = reachAfter.rules(at: time)
        let old = Dictionary(allBefore.map { ($0.rule.key, $0) }) { first, _ in first }
        let newLockouts = LockoutImpact.newlyLockedOut(before: allBefore, after: allAfter)
        // A rule that the edit leaves alone and whose share nobody knows would hide what the edit does.
        let untouched = Set(
            allAfter.filter { !$0.uncountedConditions.isEmpty && $0.rule == old[$0.rule.key]?.rule }.map(\.rule.key)
        )
        let rulesBefore = allBefore.filter { !untouched.contains($0.rule.key) }
        let rulesAfter = allAfter.filter { !untouched.contains($0.rule.key) }
        for reach in allAfter where untouched.contains(reach.rule.key) {
            leftOut.formUnion(reach.uncountedConditions.keys)
        }
        let deciding = newLockouts > 0 ? allAfter.filter { $0.locksOut || $0.isFinal } : []
        for reach in rulesBefore + rulesAfter + deciding where !reach.isCertain {
            uncounted.formUnion(reach.uncounted)
        }
        var counts = ImpactCounts()
        counts.newLockouts = newLockouts
        counts.lockoutsBefore = Self.part(of: .lockout, rulesBefore)
        counts.lockoutsAfter = max(newLockouts, Self.part(of: .lockout, rulesAfter))
        counts.messagesBefore = max(counts.lockoutsBefore, Self.partWithMessage(rulesBefore))
        counts.messagesAfter = max(counts.lockoutsAfter, Self.partWithMessage(rulesAfter))
        counts.withoutWayOut = min(Self.part(of: .withoutWayOut, rulesAfter), 1 - Self.leastPartLockedOut(rulesAfter))
        let locking = Set(LockoutImpact.decidingRules(allAfter).filter(\.locksOut).map(\.rule.key))
        lockouts.append(Self.moment(time, newLockouts, rulesAfter.filter { locking.contains($0.rule.key) }, old))
        let newMessages = max(0, counts.messagesAfter - counts.messagesBefore)
        messages.append(Self.moment(time, newMessages, rulesAfter, old))
        return counts
    }

    /// A moment, and of the rules that may bring it the first one that the edit has changed, else the first.
    private static func moment(
        _ time: Timestamp,
        _ part: Double,
        _ rules: [RuleReach],
        _ old: [String: RuleReach]
    ) -> ImpactCurve.Moment {
        guard part > 0 else { return ImpactCurve.Moment(at: time, part: 0, rule: nil) }
        let changed = rules.first { reach in
            let before = old[reach.rule.key]
            return before?.share != reach.share || before?.delivery != reach.delivery || before?.rule != reach.rule
        }
        return ImpactCurve.Moment(at: time, part: part, rule: (changed ?? rules.first)?.rule.key)
    }

    private static func partWithMessage(_ rules: [RuleReach]) -> Double {
        1 - rules.reduce(1) { $0 * (1 - $1.most) }
    }

    private static func part(of delivery: RuleReach.Delivery, _ rules: [RuleReach]) -> Double {
        var part = 0.0
        var others = 1.0
        for reach in rules {
            if reach.delivery == delivery {
                part += others * reach.most
                others *= 1 - reach.most
            } else if reach.isFinal {
                others *= 1 - reach.least
            }
        }
        return part
    }

    private static func leastPartLockedOut(_ rules: [RuleReach]) -> Double {
        var part = 0.0
        var others = 1.0
        for reach in rules {
            if reach.locksOut {
                part += others * reach.least
                others *= 1 - reach.least
            }
            if reach.isFinal { others *= 1 - reach.most }
        }
        return part
    }
}
