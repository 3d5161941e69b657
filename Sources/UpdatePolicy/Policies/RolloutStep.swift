// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// A planned change of a rule's rollout.
public struct RolloutStep: Sendable, Equatable {
    /// From when on it holds, until the next step.
    public var at: Timestamp

    /// The share of installs that the rule reaches from then on.
    public var rollout: Percentage

    /// A change of the rollout at a time.
    public init(at: Timestamp, rollout: Percentage) {
        self.at = at
        self.rollout = rollout
    }
}
