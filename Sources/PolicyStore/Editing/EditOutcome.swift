package import UpdatePolicy

/// The outcome of an edit that is made only if it needs no review.
package enum EditOutcome: Sendable {
    /// The policy was like that already.
    case unchanged
    /// The edit was made.
    case made(PolicyChange)
    /// The edit was rehearsed and rolled back; it does not affect what clients get. `base` is the state before it.
    case rehearsed(PolicyChange, base: PolicyVersion)
    /// The edit was rolled back, because it affects what clients get; with the policy before it.
    case needsReview(RolledBack, before: Policy)

    /// The change that the edit makes, or would make; nil if there is none.
    package var change: PolicyChange? {
        switch self {
        case .unchanged: nil
        case .made(let change): change
        case .rehearsed(let change, _): change
        case .needsReview(let edit, _): edit.change
        }
    }

    /// An edit that was made and rolled back.
    package struct RolledBack: Sendable {
        /// The change that it would make; its id and time are not final.
        package let change: PolicyChange
        /// The state of the policy before it.
        package let base: PolicyVersion
        /// The apps whose answers the edit may change.
        package let apps: EditedApps
        /// The policy after it, of the apps that it affects.
        package let after: Policy
        /// The keys of the lockouts for which it needs consent.
        package let consent: [String]
    }
}
