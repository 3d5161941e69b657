/// The largest part of a kind of client that is locked out under one policy and not under another, at one time.
///
/// An install is in the same bucket of a rule under both policies, and buckets of different rules are independent. So
/// the rules are asked one after the other whether a client is in, each answer with its probability; where a condition
/// is not counted, the answer is the one that gives more.
struct LockoutImpact {
    private enum Progress {
        case next(Int)
        case lockedOut
        case notLockedOut
    }

    /// Whether a client is in, by its bucket and what is not counted.
    private struct Membership {
        let before: Bool
        let after: Bool
    }

    /// The rules that decide: they lock out, or let no message follow.
    private let before: [RuleReach]
    private let after: [RuleReach]
    private var members: [String: Membership] = [:]
    private var questions = 0

    /// The limit on evaluations; the rest counts as locked out, so that the time is bounded.
    private static let mostQuestions = 4_096

    /// The largest part, 0 to 1, that is locked out after and not before, of the clients that some rules reach.
    static func newlyLockedOut(before: [RuleReach], after: [RuleReach]) -> Double {
        var impact = LockoutImpact(before: decidingRules(before), after: decidingRules(after))
        return impact.after.contains(where: \.locksOut) ? impact.part(.next(0), .next(0)) : 0
    }

    /// The rules that decide, up to the first that decides for everybody.
    static func decidingRules(_ rules: [RuleReach]) -> [RuleReach] {
        let rules = rules.filter { $0.locksOut || $0.isFinal }
        return Array(rules.prefix((rules.firstIndex(where: \.isCertain) ?? rules.count) + 1))
    }

    private mutating func part(_ reachedBefore: Progress, _ reachedAfter: Progress) -> Double {
        let progressBefore = advanced(reachedBefore, before, \.before)
        let progressAfter = advanced(reachedAfter, after, \.after)
        let key: String
        switch (progressBefore, progressAfter) {
        case (.lockedOut, _), (_, .notLockedOut): return 0
        case (.notLockedOut, .lockedOut): return 1
        case (_, .next(let index)): key = after[index].rule.key
        case (.next(let index), .lockedOut): key = before[index].rule.key
        }
        questions += 1
        guard questions <= Self.mostQuestions else { return 1 }
        let old = before.first { $0.rule.key == key }
        let new = after.first { $0.rule.key == key }
        let oldShare = old?.share ?? 0
        let newShare = new?.share ?? 0
        let segments = [
            (share: min(oldShare, newShare), isInBefore: true, isInAfter: true),
            (share: abs(oldShare - newShare), isInBefore: oldShare > newShare, isInAfter: newShare > oldShare),
            (share: 10_000 - max(oldShare, newShare), isInBefore: false, isInAfter: false),
        ]
        var most = 0.0
        for outcome in Self.outcomes(old?.uncountedConditions ?? [:], new?.uncountedConditions ?? [:]) {
            var part = 0.0
            for segment in segments where segment.share > 0 {
                members[key] = Membership(
                    before: segment.isInBefore && outcome.before,
                    after: segment.isInAfter && outcome.after
                )
                part += Double(segment.share) / 10_000 * self.part(progressBefore, progressAfter)
            }
            members[key] = nil
            most = max(most, part)
        }
        return most
    }

    /// The possible outcomes of the conditions that are not counted.
    private static func outcomes(_ old: [Condition: PolicyValue], _ new: [Condition: PolicyValue]) -> [Membership] {
        let both = [Membership(before: true, after: true), Membership(before: false, after: false)]
        if old == new { return old.isEmpty ? [both[0]] : both }
        if old.isEmpty { return [both[0], Membership(before: true, after: false)] }
        if new.isEmpty { return [both[0], Membership(before: false, after: true)] }
        return both + [Membership(before: true, after: false), Membership(before: false, after: true)]
    }

    private func advanced(_ progress: Progress, _ rules: [RuleReach], _ isIn: KeyPath<Membership, Bool>) -> Progress {
        guard case .next(var index) = progress else { return progress }
        while index < rules.count {
            guard let membership = members[rules[index].rule.key] else { return .next(index) }
            if membership[keyPath: isIn] { return rules[index].locksOut ? .lockedOut : .notLockedOut }
            index += 1
        }
        return .notLockedOut
    }
}
