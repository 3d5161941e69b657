// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// Counts on their way to the database; the same hour and kind, or rule, may stand in it several times.
public struct CountBatch: Sendable {
    /// The counts of checks.
    public var checks: [CheckCount] = []
    /// Of the counts of checks, those of kinds beyond what is kept apart.
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
