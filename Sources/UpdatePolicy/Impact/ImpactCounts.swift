/// The checks that get messages and lockouts before an edit and after it.
///
/// Counts are of checks, and fractional where a rollout reaches a part of them. Each is an upper bound.
package struct ImpactCounts: Sendable, Equatable {
    package var messagesBefore = 0.0
    package var messagesAfter = 0.0
    package var lockoutsBefore = 0.0
    package var lockoutsAfter = 0.0

    /// Checks that are locked out after and were not before.
    package var newLockouts = 0.0

    /// Checks that, after, get the message of a lockout without it because they have no way out, and that no other rule
    /// locks out.
    package var withoutWayOut = 0.0

    static func += (left: inout ImpactCounts, right: ImpactCounts) {
        for member in members { left[keyPath: member] += right[keyPath: member] }
    }

    /// The counts of this many checks, where each count is a part of one.
    func times(_ checks: Int64) -> ImpactCounts {
        var product = self
        for member in Self.members { product[keyPath: member] *= Double(checks) }
        return product
    }

    private static var members: [WritableKeyPath<ImpactCounts, Double>] {
        [
            \.messagesBefore, \.messagesAfter, \.lockoutsBefore, \.lockoutsAfter, \.newLockouts, \.withoutWayOut,
        ]
    }
}
