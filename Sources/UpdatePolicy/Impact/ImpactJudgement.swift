// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// The effect of an edit on the clients of one kind, as shares of one.
struct ImpactJudgement {
    private(set) var now = AudienceEffect()
    private(set) var ahead = AudienceEffect()
    private(set) var uncounted: Set<UncountedCondition> = []

    /// The part that is locked out after the edit at some time that was judged, at least.
    private var leastLockedOut = 0.0

    /// How many future times are judged; clients with more planned changes count as locked out.
    private static let mostMoments = 512

    init(_ before: CompiledPolicy, _ after: CompiledPolicy, _ client: Client, at time: Timestamp) {
        let reachBefore = ClientReach(before, client)
        let reachAfter = ClientReach(after, client)
        now = judge(reachBefore, reachAfter, at: time)
        ahead = now
        var moments: Set<Int64> = []
        reachBefore.addMoments(to: &moments)
        reachAfter.addMoments(to: &moments)
        moments = moments.filter { $0 > time.microsecondsSince1970 && $0 < .max }
        guard moments.count <= Self.mostMoments else {
            ahead.messagesAfter = 1
            if reachAfter.mayLockOut {
                ahead.lockoutsAfter = 1
                ahead.newLockouts = 1
            }
            return
        }
        for moment in moments {
            let time = Timestamp(microsecondsSince1970: moment)
            ahead.raise(to: judge(reachBefore, reachAfter, at: time))
        }
        ahead.withoutWayOut = min(ahead.withoutWayOut, 1 - leastLockedOut)
    }

    private mutating func judge(
        _ reachBefore: ClientReach,
        _ reachAfter: ClientReach,
        at time: Timestamp
    ) -> AudienceEffect {
        let rulesBefore = reachBefore.rules(at: time)
        let rulesAfter = reachAfter.rules(at: time)
        note(rulesBefore)
        note(rulesAfter)
        var effect = AudienceEffect()
        effect.messagesBefore = Self.partWithMessage(rulesBefore)
        effect.messagesAfter = Self.partWithMessage(rulesAfter)
        effect.lockoutsBefore = Self.part(of: .lockout, rulesBefore)
        effect.lockoutsAfter = Self.part(of: .lockout, rulesAfter)
        let lockedOut = Self.leastPartLockedOut(rulesAfter)
        leastLockedOut = max(leastLockedOut, lockedOut)
        effect.withoutWayOut = min(Self.part(of: .withoutWayOut, rulesAfter), 1 - lockedOut)
        effect.newLockouts = LockoutComparison.newlyLockedOut(
            before: LockoutComparison.deciders(rulesBefore),
            after: LockoutComparison.deciders(rulesAfter)
        )
        return effect
    }

    private mutating func note(_ rules: [RuleReach]) {
        for reach in rules where !reach.isCertain { uncounted.formUnion(reach.uncounted) }
    }

    /// The largest part that gets any message.
    private static func partWithMessage(_ rules: [RuleReach]) -> Double {
        1 - rules.reduce(1) { $0 * (1 - $1.most) }
    }

    /// The largest part that gets a message with an effect.
    private static func part(of effect: RuleReach.Effect, _ rules: [RuleReach]) -> Double {
        var part = 0.0
        var others = 1.0
        for reach in rules {
            if reach.effect == effect {
                part += others * reach.most
                others *= 1 - reach.most
            } else if reach.isFinal {
                others *= 1 - reach.least
            }
        }
        return part
    }

    /// The least part that gets a lockout.
    private static func leastPartLockedOut(_ rules: [RuleReach]) -> Double {
        var part = 0.0
        var others = 1.0
        for reach in rules {
            if reach.effect == .lockout {
                part += others * reach.least
                others *= 1 - reach.least
            }
            if reach.isFinal { others *= 1 - reach.most }
        }
        return part
    }
}
