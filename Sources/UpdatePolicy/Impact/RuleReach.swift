// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// A rule that reaches the clients of one kind at one time, judged by the counted conditions.
struct RuleReach {
    /// The message, and whether it locks out.
    enum Delivery: Equatable {
        /// A message.
        case message
        /// A message with a lockout.
        case lockout
        /// The message of a lockout without the lockout, because there is no way out.
        case withoutWayOut
    }

    /// The rule.
    let rule: Rule

    let delivery: Delivery

    /// The rollout, in hundredths of a percent; above 0.
    let share: Int

    /// Whether the rule also has conditions that are not counted.
    let isConditional: Bool

    /// Whether no message follows this one.
    let isFinal: Bool

    /// Whether every client of the kind is reached.
    var isCertain: Bool { share == 10_000 && !isConditional }

    /// The largest part of the kind that is reached, 0 to 1.
    var most: Double { Double(share) / 10_000 }

    /// The least part of the kind that is reached, 0 to 1.
    var least: Double { isConditional ? 0 : most }
}

extension RuleReach {
    /// Which of the rule's conditions are not counted.
    var uncounted: Set<UncountedCondition> {
        var uncounted = rule.uncountedConditions
        if share < 10_000 { uncounted.insert(.rollout) }
        return uncounted
    }
}
