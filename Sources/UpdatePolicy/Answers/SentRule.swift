// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// A rule whose message was sent.
public struct SentRule: Sendable, Hashable {
    /// Where the rule is in the compiled policy, for `CompiledPolicy.ruleKey(at:)`.
    public let place: RulePlace

    /// Whether the message locks the client out.
    public internal(set) var lockout: Bool
}
