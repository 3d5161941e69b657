// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

public import UpdatePolicy

/// What became of an edit that is made only if it needs no look first.
public enum EditOutcome: Sendable {
    /// The policy was like that already.
    case unchanged
    /// The edit was made.
    case made(PolicyChange)
    /// The edit was only tried; it concerns nobody's messages. `base` is the state before it, nil where another edit came
    /// between.
    case rehearsed(PolicyChange, base: PolicyVersion?)
    /// The edit was taken back, for it concerns what clients get; with the policy before it.
    case heldBack(HeldBack, before: Policy)

    /// What the edit changes, or would change; nil if nothing.
    public var change: PolicyChange? {
        switch self {
        case .unchanged: nil
        case .made(let change): change
        case .rehearsed(let change, _): change
        case .heldBack(let edit, _): edit.change
        }
    }

    /// An edit that was tried and taken back.
    public struct HeldBack: Sendable {
        /// What it would change; its number and time are not final.
        public let change: PolicyChange
        /// The state of the policy before it.
        public let base: PolicyVersion
        /// What it concerns.
        public let concern: EditConcern
        /// The policy after it, as far as it is concerned.
        public let after: Policy
    }
}
