package struct Explanation: Sendable, Equatable {
    package enum Outcome: String, Sendable, CaseIterable {
        /// The message was sent, with the lockout where the rule asks for one.
        case sent
        /// The message was sent, but not the lockout that the rule asks for: the client has no way out, or asked for the check.
        case sentWithoutLockout = "sent without lockout"
        case noMatch = "no match"
        /// All conditions were met, but a rule that was sent before lets none follow it.
        case afterAFinalRule = "after a final rule"
    }

    /// What decided what became of it.
    enum Reason: Sendable, Equatable {
        case sent
        /// Of attributes the first that the client does not have as the rule asks.
        case unmet(Condition, attribute: String? = nil)
        /// A final rule with this key comes before it.
        case afterFinal(String)
        case noWayOut(WayOut)
        /// The rollout keeps the client from it, but the person asked for the check.
        case behindRollout
    }

    let rule: Rule
    var reason: Reason

    /// What the rule asks for; `nil` where the message was sent as it is.
    package internal(set) var expected: String?

    /// What the client, the clock or the policy has in its place; `nil` where it was not sent.
    package internal(set) var actual: String?

    /// The release that is offered, or waited for.
    package internal(set) var release: String?

    /// The release that the rule waits for, or that would be a way out, where something keeps the client from it.
    var obstacle: ReleaseObstacle?

    /// Why it is sent: its title, whom it is for, and what of that the client is; `nil` where it is not sent.
    package internal(set) var match: String?

    /// The bucket of the client's install; `nil` without an install.
    package internal(set) var bucket: Int?
    package internal(set) var rollout = Percentage.all

    /// Since when the rollout goes no further because the rule is held.
    var heldSince: Timestamp?

    /// Whether it hangs on it that the client's version is read as a pre-release.
    var hangsOnPreRelease = false
    /// Whether it hangs on the version of the client's system.
    var hangsOnSystem = false
}

extension Explanation {
    package var position: Int { rule.position }
    package var key: String { rule.key }
    package var lockout: Bool { rule.lockout }

    package var outcome: Outcome {
        switch reason {
        case .sent: .sent
        case .unmet: .noMatch
        case .afterFinal: .afterAFinalRule
        case .noWayOut: .sentWithoutLockout
        case .behindRollout: lockout ? .sentWithoutLockout : .sent
        }
    }

    /// What decided it, as it is named in columns; `nil` where the message was sent as it is.
    package var condition: String? {
        switch reason {
        case .sent: nil
        case .unmet(let condition, let attribute): condition.rawValue + (attribute.map { ".\($0)" } ?? "")
        case .afterFinal: "final"
        case .noWayOut: "lockout"
        case .behindRollout: Condition.rollout.rawValue
        }
    }

    var unmet: Condition? {
        if case .unmet(let condition, _) = reason { condition } else { nil }
    }
}

extension Explanation {
    /// The explanations with what the client gets first, and then the rules that came closest to being sent.
    ///
    /// Conditions are judged in a fixed order, so the later the one that failed, the closer was the rule.
    package static func decidingFirst(_ explanations: [Explanation]) -> [Explanation] {
        explanations.enumerated().sorted { left, right in
            (right.element.closeness, left.offset) < (left.element.closeness, right.offset)
        }.map(\.element)
    }

    private var closeness: Int {
        switch outcome {
        case .sent, .sentWithoutLockout: Int.max
        case .afterAFinalRule: Int.max - 1
        case .noMatch: unmet.flatMap { Condition.allCases.firstIndex(of: $0) } ?? 0
        }
    }
}

/// A release that a rule waits for, and why the client cannot get it yet.
package struct ReleaseObstacle: Sendable, Hashable {
    package enum Reason: Sendable, Hashable {
        /// Since when; `nil` where that is still to come, before it is live.
        case withdrawn(Timestamp?)
        case staged
        case noDate
        case liveFrom(Timestamp)
        case regions([String])
        case os(String)
        /// It has not been live for as long as the rule asks.
        case soaksUntil(Timestamp)
    }

    package let release: String
    package let reason: Reason

    /// What is said of it in a word; `nil` for one that is not waited for.
    var label: String? {
        switch reason {
        case .withdrawn: nil
        case .staged: "\(release): staged"
        case .noDate: "\(release): no live date"
        case .liveFrom(let time): "\(release): live from \(time)"
        case .regions(let regions): "\(release): region \(regions.joined(separator: ", "))"
        case .os(let version): "\(release): os \(version)"
        case .soaksUntil(let time): "\(release): soaks until \(time)"
        }
    }
}
