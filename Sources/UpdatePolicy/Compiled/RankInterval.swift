// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// A range of ranks, the upper bound exclusive.
///
/// The rank of a value is the number of bounds, in a sorted list, that are not above it. So a condition on versions or
/// times is a comparison of two small integers once the client's rank is known.
struct RankInterval: Sendable, Equatable {
    /// The rank of a value that cannot be read: it is in no interval.
    static let unreadable = UInt32.max

    var lower: UInt32
    var upper: UInt32

    @inline(__always)
    func contains(_ rank: UInt32) -> Bool {
        lower <= rank && rank < upper
    }
}
