// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// Where a rule is in a compiled policy; it means nothing in another.
public struct RulePlace: Sendable, Hashable {
    /// The number of the rule's app; -1 for the rules for every app.
    let app: Int32

    /// The number of the rule in the order of the group.
    let number: UInt32
}
