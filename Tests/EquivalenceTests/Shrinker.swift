import TestPolicies
import UpdatePolicy

/// The search for the smallest policy and client that SQL and the engine still do not answer alike.
struct Shrinker {
    let comparison: Comparison

    /// The disagreement with everything taken out that it does not need.
    func shrink(_ found: Disagreement) throws -> Disagreement {
        var smallest = found
        var size: Int
        repeat {
            size = Self.size(smallest)
            try Self.eachSmaller(of: smallest.policy, Self.smallerPolicies) { policy in
                guard let smaller = try disagreement(policy, smallest.timeZone, smallest.check) else { return false }
                smallest = smaller
                return true
            }
            try Self.eachSmaller(of: smallest.check, Self.smallerChecks) { check in
                guard let smaller = try disagreement(smallest.policy, smallest.timeZone, check) else { return false }
                smallest = smaller
                return true
            }
            if smallest.timeZone != "UTC",
                let smaller = try disagreement(smallest.policy, "UTC", smallest.check)
            {
                smallest = smaller
            }
        } while Self.size(smallest) < size
        return smallest
    }

    /// Tries once each thing that may be left out, going on from what is left.
    ///
    /// What could not be left out may be later, once other things have gone: that is for the next round.
    private static func eachSmaller<Value>(
        of whole: Value,
        _ smaller: (Value) -> [Value],
        _ isEnough: (Value) throws -> Bool
    ) rethrows {
        var candidates = smaller(whole)
        var place = 0
        while place < candidates.count {
            if try isEnough(candidates[place]) {
                candidates = smaller(candidates[place])
            } else {
                place += 1
            }
        }
    }

    /// How much could still be left out of a disagreement.
    private static func size(_ disagreement: Disagreement) -> Int {
        smallerPolicies(disagreement.policy).count + smallerChecks(disagreement.check).count
    }

    private func disagreement(_ policy: Policy, _ timeZone: String, _ check: Check) throws -> Disagreement? {
        try comparison.specification.withWholePolicy(policy, timeZone: timeZone) { written in
            let answers = try comparison.specification.answers(to: [check])
            return comparison.disagreement(written, timeZone, [check], answers)
        }
    }

    private static func smallerChecks(_ check: Check) -> [Check] {
        check.client.members.indices.filter { check.client.members[$0].name != "bundle" }.map { index in
            var smaller = check
            smaller.client.members.remove(at: index)
            return smaller
        }
    }

    private static func smallerPolicies(_ policy: Policy) -> [Policy] {
        var smaller: [Policy] = []
        for index in policy.rules.indices { smaller.append(policy.with { $0.rules.remove(at: index) }) }
        for index in policy.releases.indices { smaller.append(policy.with { $0.releases.remove(at: index) }) }
        for index in policy.apps.indices {
            smaller.append(policy.with { $0.apps.remove(at: index) })
            smaller.append(policy.with { $0.apps[index].storeLinks = [] })
            smaller.append(policy.with { $0.apps[index].feedTemplates = [] })
            smaller.append(policy.with { $0.apps[index].name = nil })
            smaller.append(policy.with { $0.apps[index].paused = false })
        }
        for index in policy.rules.indices {
            smaller += simplifications.map { simplify in policy.with { simplify(&$0.rules[index]) } }
            for text in policy.rules[index].texts.indices {
                smaller.append(policy.with { $0.rules[index].texts.remove(at: text) })
            }
            for step in policy.rules[index].steps.indices {
                smaller.append(policy.with { $0.rules[index].steps.remove(at: step) })
            }
        }
        for index in policy.releases.indices {
            smaller += releaseSimplifications.map { simplify in policy.with { simplify(&$0.releases[index]) } }
        }
        return smaller.filter { $0 != policy }
    }

    private static let simplifications: [@Sendable (inout Rule) -> Void] =
        defaults() + [{ $0.title = "t" }, { $0.text = "x" }, { $0.enabled = true }]

    private static let releaseSimplifications: [@Sendable (inout Release) -> Void] = defaults() + [{ $0.notes = [] }]

    /// Each column without what it says. A rule is made simpler by being enabled: to go both ways would never end.
    private static func defaults<Record: PolicyRecord>() -> [@Sendable (inout Record) -> Void] {
        Record.columns.compactMap { column -> (@Sendable (inout Record) -> Void)? in
            guard column.name != "enabled", let value = column.defaultValue else { return nil }
            return { column.set(value, in: &$0) }
        }
    }
}

extension Policy {
    /// The policy after a change.
    func with(_ change: (inout Policy) -> Void) -> Policy {
        var policy = self
        change(&policy)
        return policy
    }
}
