package import UpdatePolicy

/// An enabled lockout that has not ended, with what is so about it now.
package struct EnabledLockout: Sendable {
    package let rule: Rule
    /// What is so about it; nil where the database does not say it.
    package let status: RuleStatus?
    /// How many of the checks of the last ten minutes it locks out; nil where counts are not known.
    package let share: LockoutShare?

    /// Those of a policy: the largest share of checks first, then those that lock out, then by key.
    ///
    /// - Parameter shares: What was counted in the last ten minutes, by rule; nil: not known.
    package static func all(
        in policy: Policy,
        _ shares: [String: LockoutShare]?,
        _ statuses: [String: RuleStatus],
        at time: Timestamp
    ) -> [EnabledLockout] {
        rules(of: policy, at: time).map { rule in
            EnabledLockout(rule: rule, status: statuses[rule.key], share: shares.map { $0[rule.key] ?? .none })
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

    private var part: Double { share?.part ?? 0 }

    /// The share as ``LockoutShare/text`` says it.
    package var shareText: String { share?.text ?? "not known" }
}
