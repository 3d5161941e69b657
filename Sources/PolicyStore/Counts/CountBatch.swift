package import UpdatePolicy

/// Counts on their way to the database; the same hour and kind, or rule, may stand in it several times.
package struct CountBatch: Sendable {
    package var checks: [CheckCount] = []
    package var merged: [MergedCount] = []
    package var rules: [RuleCount] = []
    package var lockouts: [LockoutCount] = []

    package init() {}
    package var isEmpty: Bool { checks.isEmpty && rules.isEmpty }
    package var totalChecks: Int { checks.reduce(0) { $0 + $1.checks } }

    package mutating func append(_ other: CountBatch) {
        checks += other.checks
        merged += other.merged
        rules += other.rules
        lockouts += other.lockouts
    }
}

package struct CheckCount: Sendable, Hashable {
    package var hour: Timestamp
    /// The kind of client; nil for apps that the policy does not list and for kinds that are not counted separately.
    package var kind: ClientKind?
    package var checks: Int
    package var messages: Int
    package var lockouts: Int

    package init(hour: Timestamp, kind: ClientKind?, checks: Int, messages: Int, lockouts: Int) {
        (self.hour, self.kind) = (hour, kind)
        (self.checks, self.messages, self.lockouts) = (checks, messages, lockouts)
    }
}

package struct RuleCount: Sendable, Hashable {
    package var hour: Timestamp
    package var rule: String
    package var sent: Int
    package var lockouts: Int

    package init(hour: Timestamp, rule: String, sent: Int, lockouts: Int) {
        (self.hour, self.rule, self.sent, self.lockouts) = (hour, rule, sent, lockouts)
    }
}

/// How many checks of an app a lockout could lock out in a minute.
package struct LockoutCount: Sendable, Hashable {
    package var rule: String
    /// The app's bundle as the policy spells it; nil: apps that the policy does not list.
    package var bundle: String?
    package var minute: Timestamp
    package var checks: Int
    package var lockouts: Int
    package var revision: Int64

    package init(rule: String, bundle: String?, minute: Timestamp, checks: Int, lockouts: Int, revision: Int64) {
        (self.rule, self.bundle, self.minute) = (rule, bundle, minute)
        (self.checks, self.lockouts, self.revision) = (checks, lockouts, revision)
    }
}

/// How many checks of an app in an hour were merged because they came from too many kinds of clients. They are among the
/// counts of checks, too: with their version alone where it is that of a release, else without anything.
package struct MergedCount: Sendable, Hashable {
    package var hour: Timestamp
    package var bundle: String
    package var checks: Int

    package init(hour: Timestamp, bundle: String, checks: Int) {
        (self.hour, self.bundle, self.checks) = (hour, bundle, checks)
    }
}
