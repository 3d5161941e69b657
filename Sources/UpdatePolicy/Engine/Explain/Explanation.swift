// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// What became of one rule in a check, and why.
public struct Explanation: Sendable, Equatable {
    /// What became of a rule.
    public enum Outcome: String, Sendable, CaseIterable {
        /// The message was sent, with the lockout where the rule asks for one.
        case sent
        /// The message was sent, but the client has no way out of the lockout that the rule asks for.
        case sentWithoutLockout = "sent without lockout"
        /// A condition was not met.
        case noMatch = "no match"
        /// All conditions were met, but a rule that was sent before lets none follow it.
        case afterAFinalRule = "after a final rule"
    }

    /// The rule's position.
    public let position: Int

    /// The rule's key.
    public let key: String

    /// What became of the rule.
    public let outcome: Outcome

    /// What decided that; `nil` where the message was sent as it is.
    public let condition: String?

    /// What the rule asks for.
    public let expected: String?

    /// What the client, the clock or the policy has in its place; `nil` where it was not sent.
    public let actual: String?

    /// The bucket of the client's install; `nil` without an install.
    public let bucket: Int?

    /// The rollout in force at the time of the check.
    public let rollout: Percentage

    /// The release that is offered, or waited for.
    public let release: String?

    /// Whether the rule asks for a lockout.
    public let lockout: Bool

    /// The condition that was not met.
    let unmet: Condition?

    /// The release that the rule waits for, or that would be a way out, where something keeps the client from it.
    let obstacle: ReleaseObstacle?
}

extension Explanation {
    /// The explanations with what the client gets first, and then the rules that came closest to being sent.
    ///
    /// Conditions are judged in a fixed order, so the later the one that failed, the closer was the rule.
    public static func decidingFirst(_ explanations: [Explanation]) -> [Explanation] {
        explanations.enumerated().sorted { left, right in
            (right.element.closeness, left.offset) < (left.element.closeness, right.offset)
        }.map(\.element)
    }

    private var closeness: Int {
        switch outcome {
        case .sent, .sentWithoutLockout: Int.max
        case .afterAFinalRule: Int.max - 1
        case .noMatch: unmet.map { Int($0.rawValue) } ?? 0
        }
    }
}
