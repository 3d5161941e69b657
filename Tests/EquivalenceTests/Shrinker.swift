// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import TestPolicies
import UpdatePolicy

/// The search for the smallest policy and client that SQL and the engine still do not answer alike.
struct Shrinker {
    let comparison: Comparison

    /// The disagreement with everything taken out that it does not need.
    func shrink(_ found: Disagreement) throws -> Disagreement {
        var smallest = found
        var isSmaller = true
        while isSmaller {
            isSmaller = false
            for policy in Self.smallerPolicies(smallest.policy) {
                guard let smaller = try disagreement(policy, smallest.timeZone, smallest.check) else { continue }
                smallest = smaller
                isSmaller = true
                break
            }
            for check in Self.smallerChecks(smallest.check) {
                guard let smaller = try disagreement(smallest.policy, smallest.timeZone, check) else { continue }
                smallest = smaller
                isSmaller = true
                break
            }
            if smallest.timeZone != "UTC",
                let smaller = try disagreement(smallest.policy, "UTC", smallest.check)
            {
                smallest = smaller
            }
        }
        return smallest
    }

    private func disagreement(_ policy: Policy, _ timeZone: String, _ check: Check) throws -> Disagreement? {
        try comparison.specification.withPolicy(policy, timeZone: timeZone) { written in
            guard written.refusedRows == 0 else { return nil }
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

    private static let simplifications: [@Sendable (inout Rule) -> Void] = [
        { $0.versions = nil }, { $0.builds = nil }, { $0.os = nil }, { $0.platforms = nil }, { $0.regions = nil },
        { $0.languages = nil }, { $0.attributes = nil }, { $0.target = nil }, { $0.soak = nil },
        { $0.rollout = .all }, { $0.startsAt = nil }, { $0.endsAt = nil }, { $0.title = "t" }, { $0.text = "x" },
        { $0.link = nil }, { $0.remind = nil }, { $0.shows = nil }, { $0.skippable = false }, { $0.lockout = false },
        { $0.lockoutWithoutUpdate = false }, { $0.final = false },
        { $0.position = 0 }, { $0.enabled = true },
    ]

    private static let releaseSimplifications: [@Sendable (inout Release) -> Void] = [
        { $0.build = nil }, { $0.minOS = nil }, { $0.regions = nil }, { $0.withdrawnAt = nil }, { $0.staged = false },
        { $0.notes = [] },
    ]
}

extension Policy {
    /// The policy after a change.
    func with(_ change: (inout Policy) -> Void) -> Policy {
        var policy = self
        change(&policy)
        return policy
    }
}
