package import Postgres
package import UpdatePolicy

/// How many of the checks of the last ten minutes a lockout locks out, and since which change.
package struct LockoutShare: Sendable, Equatable, Decodable {
    package struct Change: Sendable, Equatable, Decodable {
        package let id: Int64
        package let at: Timestamp
        package let role: String
        package let tool: String?
    }

    /// How many checks of its apps were counted since it is what it is.
    package let checks: Int64
    package let lockouts: Int64
    /// The part before that; nil: nothing was counted.
    package let before: Double?
    /// Whether it became what it is within a day: ``before`` is of the ten minutes before then, else of the last hour.
    package let isRecent: Bool
    package let change: Change?
    /// Whether the change is so new that servers may not have written what they counted since.
    package var isNew = false
    static let none = LockoutShare(checks: 0, lockouts: 0, before: nil, isRecent: false, change: nil)

    /// Those of the enabled lockouts that have not ended, by key.
    package static func all(_ session: PostgresSession) throws -> [String: LockoutShare] {
        try session.query(
            """
            SELECT rule, checks, lockouts, lockouts_before::float8 / nullif(checks_before, 0) AS before, is_recent,
                CASE WHEN change IS NOT NULL THEN
                    json_build_object('id', change, 'at', changed_at, 'role', role, 'tool', tool) END AS change,
                coalesce(changed_at > now() - interval '30 seconds', false) AS is_new
            FROM versiongate_internal.lockout_shares()
            """
        ).rows(by: "rule")
    }

    package var part: Double { checks == 0 ? 0 : Double(lockouts) / Double(checks) }

    /// Whether the share is higher than before by a percentage point, of checks that are not too few.
    package var hasRisen: Bool {
        guard Double(checks) >= NumberText.fewestJudged else { return false }
        guard let before = before ?? (isRecent ? 0 : nil) else { return false }
        // By itself a share goes up and down in a day.
        return part - before >= 0.01 && (isRecent || part >= 2 * before)
    }

    /// The share before, for people; nil: not known.
    package var beforeText: String? { before.map { NumberText.percent($0, of: 1) } }

    /// The share: `25.0 % of 400`, or `3 of 17` where they are few.
    package var text: String {
        guard checks > 0 else { return isNew ? "not counted yet" : "no checks" }
        let share = NumberText.share(Double(lockouts), of: Double(checks))
        return Double(checks) < NumberText.fewestJudged ? share : "\(share) of \(NumberText.count(checks))"
    }
}

extension LockoutShare.Change {
    package var sentence: Sentence {
        let author = tool == "fuse" || tool == "brake" ? "\(role) (\(tool ?? ""))" : role
        return "\("change \(id)", .change(id)) by \(author), \(distance: at)"
    }
}

package struct EnabledLockout: Sendable {
    package let rule: Rule
    package let status: RuleStatus?
    /// How many of the checks of the last ten minutes it locks out; nil where counts are not known.
    package let share: LockoutShare?

    /// Those of a policy: the largest share of checks first, then those that lock out, then by key.
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

    package static func rules(of policy: Policy, at time: Timestamp) -> [Rule] {
        policy.rules.filter { $0.enabled && $0.lockout && $0.endsAt.map { time < $0 } ?? true }
    }

    package var locksOut: Bool { status?.locksOut(rule) ?? false }
    private var part: Double { share?.part ?? 0 }
    package var shareText: String { share?.text ?? "not known" }
}
