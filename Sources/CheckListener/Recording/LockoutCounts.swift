package import UpdatePolicy

/// What one recorder counted for the lockouts of one policy in a minute, or in the part of it in which the same ones may
/// lock out.
package struct LockoutCounts: Sendable {
    /// The checks of an app that one rule could lock out.
    package struct Load: Sendable, Equatable {
        package let rule: String
        /// The app as the policy spells it; nil: apps that the policy does not list.
        package let bundle: String?
        package let hasFuse: Bool
        package let checks: Int
        /// How many of them the rule locked out.
        package let lockouts: Int
    }

    private struct Place: Hashable {
        let rule: RuleID
        let app: Int
    }

    /// When the minute begins.
    package let minute: Timestamp
    /// The revision of the policy that answered.
    package var revision: Int64 { policy.revision }
    private let policy: CompiledPolicy
    private let period: Range<Int64>
    /// By app, so that a check costs one addition, however many lockouts there are.
    private var checks: [Int]
    private var lockouts: [Place: Int] = [:]

    init(_ policy: CompiledPolicy, at now: Timestamp) {
        self.policy = policy
        let length: Int64 = 60_000_000
        let start = now.microsecondsSince1970.flooredQuotient(by: length) * length
        minute = Timestamp(microsecondsSince1970: start)
        period = policy.lockoutPeriod(at: now).clamped(to: start..<(start + length))
        checks = Array(repeating: 0, count: policy.countedAppCount)
    }

    /// Whether what a policy answers at a time belongs to it.
    @inline(__always)
    func takes(_ policy: CompiledPolicy, at now: Timestamp) -> Bool {
        period.contains(now.microsecondsSince1970) && self.policy === policy
    }

    @inline(__always)
    mutating func count(_ answer: borrowing Answer) {
        let app = policy.appPlace(of: answer)
        checks[app] &+= 1
        for sent in answer.sent where sent.lockout { lockouts[Place(rule: sent.id, app: app), default: 0] += 1 }
    }

    /// What was counted, for each lockout and each app that asked.
    package var all: [Load] {
        var loads: [Load] = []
        for (app, checks) in checks.enumerated() where checks > 0 {
            policy.forEachLockout(ofAppAt: app, at: period.lowerBound) { rule, key, bundle, hasFuse in
                let lockouts = lockouts[Place(rule: rule, app: app), default: 0]
                loads.append(Load(rule: key, bundle: bundle, hasFuse: hasFuse, checks: checks, lockouts: lockouts))
            }
        }
        return loads
    }
}
