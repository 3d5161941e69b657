// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

package import UpdatePolicy

/// An enabled lockout that has not ended, with what is so about it now.
package struct EnabledLockout: Sendable {
    /// The rule.
    package let rule: Rule
    /// What is so about it; nil where the database does not say it.
    package let status: RuleStatus?
    /// How many checks it locked out of late, and of how many; nil where counts are not known.
    package let counts: (lockedOut: Int64, checks: Int64)?

    /// Those of a policy: the largest share of checks first, then those that lock out, then by key.
    ///
    /// - Parameters:
    ///   - policy: The policy.
    ///   - counts: What was counted of late; nil: not known.
    ///   - statuses: What the database says of its rules.
    ///   - time: Now.
    package static func all(
        in policy: Policy,
        _ counts: DatabaseStatus.Counts?,
        _ statuses: [String: RuleStatus],
        at time: Timestamp
    ) -> [EnabledLockout] {
        rules(of: policy, at: time).map { rule in
            EnabledLockout(
                rule: rule,
                status: statuses[rule.key],
                counts: counts?.ofRule(rule.key, bundle: rule.bundle)
            )
        }.sorted { left, right in
            if left.part != right.part { return left.part > right.part }
            if left.locksOut != right.locksOut { return left.locksOut }
            return UTF8Text(left.rule.key) < UTF8Text(right.rule.key)
        }
    }

    /// The rules that they are of.
    package static func rules(of policy: Policy, at time: Timestamp) -> [Rule] {
        policy.rules.filter { $0.enabled && $0.lockout && $0.endsAt.map { time < $0 } ?? true }
    }

    /// Whether somebody may be locked out by it now.
    package var locksOut: Bool { status?.locksOut(rule) ?? false }

    private var part: Double {
        counts.map { $0.checks == 0 ? 0 : Double($0.lockedOut) / Double($0.checks) } ?? 0
    }

    /// The share of the checks of its app that it locked out: `25.0 % of 400`, or `3 of 17` where they are few.
    package var share: String {
        guard let counts else { return "not known" }
        guard counts.checks > 0 else { return "no checks" }
        let share = NumberText.share(Double(counts.lockedOut), of: Double(counts.checks))
        return Double(counts.checks) < NumberText.fewestJudged
            ? share : "\(share) of \(NumberText.count(counts.checks))"
    }
}
