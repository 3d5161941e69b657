// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// What is so about a rule at a moment: the same that the view `rule_status` says in the database.
package struct RuleStatus: Sendable, Equatable {
    /// The name of a status, as SQL and the command line write it. Of several that hold, the first counts.
    package enum Name: String, Sendable, CaseIterable {
        case disabled
        case ended
        case paused
        case scheduled
        /// No release reaches its target yet, or its rollout is at 0 %.
        case waiting
        /// A rule before it is final and sent to everybody whom it reaches.
        case hidden
        /// Nobody whom it reaches has a way out, so it locks out nobody.
        case onWithoutLockout = "on without lockout"
        /// On some of its platforms, or in some of its regions, nobody has a way out.
        case partlyWithoutLockout = "partly without lockout"
        case on

        /// Whether messages are sent by the rule.
        package var isSent: Bool { self == .on || self == .onWithoutLockout || self == .partlyWithoutLockout }
    }

    package let key: String
    package let name: Name

    /// Since when by the clock it is what it is; `nil` where nothing has changed it but an edit.
    package let since: Timestamp?

    /// When the clock changes what it is, or its rollout while it is sent; `nil`: it stays.
    package let next: Timestamp?
    package let rollout: Percentage

    /// Why it is not plainly on: a clause such as `2.5 on ios is staged`; `nil` where the name says it all.
    package let reason: String?

    /// Whether a client may be locked out by the rule now; `isLockout` is the rule's own.
    package func locksOut(_ rule: Rule) -> Bool { rule.lockout && (name == .on || name == .partlyWithoutLockout) }
}

extension Policy {
    /// The status of each rule at a moment, by its key.
    ///
    /// - Parameters:
    ///   - time: The moment.
    ///   - rules: Only these rules of the policy; `nil` for all.
    package func ruleStatuses(at time: Timestamp, of rules: [Rule]? = nil) -> [String: RuleStatus] {
        var judge = RuleJudge(self)
        var statuses: [String: RuleStatus] = [:]
        for rule in rules ?? self.rules { statuses[rule.key] = judge.status(of: rule, at: time) }
        return statuses
    }
}
