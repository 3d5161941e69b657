// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// Where a rule is in a compiled policy; it means nothing in another.
public struct RulePlace: Sendable, Hashable {
    /// The number of the rule's app; -1 for the rules for every app.
    public let app: Int32

    /// The number of the rule among those of its app, or of every app.
    public let number: UInt32
}
