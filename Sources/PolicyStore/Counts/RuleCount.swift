// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

public import UpdatePolicy

/// How often a rule's message was sent in an hour.
public struct RuleCount: Sendable, Hashable {
    /// The start of the hour.
    public var hour: Timestamp
    /// The key of the rule.
    public var rule: String
    /// How often its message was sent.
    public var sent: Int
    /// How often with the lockout.
    public var lockouts: Int

    /// Creates a count.
    public init(hour: Timestamp, rule: String, sent: Int, lockouts: Int) {
        self.hour = hour
        self.rule = rule
        self.sent = sent
        self.lockouts = lockouts
    }
}
