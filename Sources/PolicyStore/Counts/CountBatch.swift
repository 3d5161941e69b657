package import UpdatePolicy

/// Counts on their way to the database; the same hour and kind, or rule, may stand in it several times.
package struct CountBatch: Sendable {
    /// The counts of checks.
    package var checks: [CheckCount] = []
    /// The counts of checks that were merged because of too many kinds.
    package var merged: [MergedCount] = []
    /// The counts of messages.
    package var rules: [RuleCount] = []
    /// The counts of lockouts.
    package var lockouts: [LockoutCount] = []

    /// An empty batch.
    package init() {}

    /// Whether there is nothing to write.
    package var isEmpty: Bool { checks.isEmpty && rules.isEmpty }

    /// How many checks the batch counts.
    package var totalChecks: Int { checks.reduce(0) { $0 + $1.checks } }

    /// Adds what another batch counts.
    package mutating func append(_ other: CountBatch) {
        checks += other.checks
        merged += other.merged
        rules += other.rules
        lockouts += other.lockouts
    }
}

/// How many checks one kind of client made in an hour.
package struct CheckCount: Sendable, Hashable {
    /// The start of the hour.
    package var hour: Timestamp
    /// The kind of client; nil for apps that the policy does not list and for kinds that are not counted separately.
    package var kind: ClientKind?
    /// How many checks were answered.
    package var checks: Int
    /// Those that were answered with a message, or with several.
    package var messages: Int
    /// Those that were answered with a lockout.
    package var lockouts: Int

    /// Creates a count.
    package init(hour: Timestamp, kind: ClientKind?, checks: Int, messages: Int, lockouts: Int) {
        self.hour = hour
        self.kind = kind
        self.checks = checks
        self.messages = messages
        self.lockouts = lockouts
    }
}

/// How often a rule's message was sent in an hour.
package struct RuleCount: Sendable, Hashable {
    /// The start of the hour.
    package var hour: Timestamp
    /// The key of the rule.
    package var rule: String
    /// How often its message was sent.
    package var sent: Int
    /// How often with the lockout.
    package var lockouts: Int

    /// Creates a count.
    package init(hour: Timestamp, rule: String, sent: Int, lockouts: Int) {
        self.hour = hour
        self.rule = rule
        self.sent = sent
        self.lockouts = lockouts
    }
}

/// How many checks of an app a lockout could lock out in a minute.
package struct LockoutCount: Sendable, Hashable {
    /// The key of the rule.
    package var rule: String
    /// The app's bundle as the policy spells it; nil: apps that the policy does not list.
    package var bundle: String?
    /// The start of the minute.
    package var minute: Timestamp
    /// How many checks were answered.
    package var checks: Int
    /// Those that the rule locked out.
    package var lockouts: Int
    /// The revision of the policy that answered.
    package var revision: Int64

    /// Creates a count.
    package init(rule: String, bundle: String?, minute: Timestamp, checks: Int, lockouts: Int, revision: Int64) {
        self.rule = rule
        self.bundle = bundle
        self.minute = minute
        self.checks = checks
        self.lockouts = lockouts
        self.revision = revision
    }
}
