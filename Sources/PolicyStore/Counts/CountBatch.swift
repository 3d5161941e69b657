// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

public import UpdatePolicy

/// Counts on their way to the database; the same hour and kind, or rule, may stand in it several times.
public struct CountBatch: Sendable {
    /// The counts of checks.
    public var checks: [CheckCount] = []
    /// The counts of checks that were merged because of too many kinds.
    public var merged: [MergedCount] = []
    /// The counts of messages.
    public var rules: [RuleCount] = []

    /// An empty batch.
    public init() {}

    /// Whether there is nothing to write.
    public var isEmpty: Bool { checks.isEmpty && rules.isEmpty }

    /// How many checks the batch counts.
    public var totalChecks: Int { checks.reduce(0) { $0 + $1.checks } }

    /// Adds what another batch counts.
    public mutating func append(_ other: CountBatch) {
        checks += other.checks
        merged += other.merged
        rules += other.rules
    }
}

/// How many checks one kind of client made in an hour.
public struct CheckCount: Sendable, Hashable {
    /// The start of the hour.
    public var hour: Timestamp
    /// The kind of client; nil for apps that the policy does not list and for kinds that are not counted separately.
    public var kind: ClientKind?
    /// How many checks were answered.
    public var checks: Int
    /// Those that were answered with a message, or with several.
    public var messages: Int
    /// Those that were answered with a lockout.
    public var lockouts: Int

    /// Creates a count.
    public init(hour: Timestamp, kind: ClientKind?, checks: Int, messages: Int, lockouts: Int) {
        self.hour = hour
        self.kind = kind
        self.checks = checks
        self.messages = messages
        self.lockouts = lockouts
    }
}

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
