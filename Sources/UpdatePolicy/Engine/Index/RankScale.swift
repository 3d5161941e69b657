// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// The bounds that the conditions of some rules name, sorted, against which a value gets its rank.
struct RankScale<Value: Comparable & Sendable>: Sendable {
    private let bounds: [Value]

    init(_ values: [Value]) {
        var bounds: [Value] = []
        for value in values.sorted() where bounds.last.map({ $0 < value }) ?? true { bounds.append(value) }
        self.bounds = bounds
    }

    /// How many different ranks there are.
    var rankCount: Int { bounds.count + 1 }

    /// How many bounds are not above a value.
    @inline(__always)
    func rank(of value: Value) -> UInt32 {
        var low = 0
        var high = bounds.count
        while low < high {
            let middle = (low &+ high) >> 1
            if value < bounds[middle] { high = middle } else { low = middle &+ 1 }
        }
        return UInt32(truncatingIfNeeded: low)
    }
}

extension RankScale<VersionKey> {
    /// The ranks of the versions in an interval whose bounds are on the scale.
    func ranks(of interval: VersionInterval) -> RankInterval {
        RankInterval(
            lower: interval.lower == .minimum ? 0 : rank(of: interval.lower),
            upper: interval.upper == .maximum ? .max : rank(of: interval.upper)
        )
    }
}

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

/// The scales on which the conditions of one group of rules are ranked.
final class RuleScales: Sendable {
    let versions: RankScale<VersionKey>
    let builds: RankScale<VersionKey>
    let os: RankScale<VersionKey>
    let times: RankScale<Int64>

    init(
        versions: RankScale<VersionKey>,
        builds: RankScale<VersionKey>,
        os: RankScale<VersionKey>,
        times: RankScale<Int64>
    ) {
        self.versions = versions
        self.builds = builds
        self.os = os
        self.times = times
    }
}
