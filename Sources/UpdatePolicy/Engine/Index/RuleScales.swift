/// The versions that the conditions of some rules name as bounds, sorted, against which a version gets its rank.
///
/// The first 16 bytes of the keys lie in arrays of their own: to compare them counts no reference to the rare rest.
struct VersionScale: Sendable {
    private let highs: [UInt64]
    private let lows: [UInt64]
    private let bounds: [VersionKey]

    init(_ versions: [VersionKey]) {
        var bounds: [VersionKey] = []
        for version in versions.sorted() where bounds.last.map({ $0 < version }) ?? true { bounds.append(version) }
        self.bounds = bounds
        highs = bounds.map(\.high)
        lows = bounds.map(\.low)
    }

    var rankCount: Int { bounds.count + 1 }

    /// How many bounds are not above a version.
    @inline(__always)
    func rank(of version: VersionKey) -> UInt32 {
        UInt32(truncatingIfNeeded: highs.indices.partitioningIndex { isVersion(version, below: $0) })
    }

    @inline(__always)
    private func isVersion(_ version: VersionKey, below bound: Int) -> Bool {
        if version.high != highs[bound] { return version.high < highs[bound] }
        if version.low != lows[bound] { return version.low < lows[bound] }
        return version < bounds[bound]
    }

    /// The ranks of the versions in an interval whose bounds are on the scale.
    func ranks(of interval: VersionInterval) -> RankInterval {
        RankInterval(
            lower: interval.lower == .minimum ? 0 : rank(of: interval.lower),
            upper: interval.upper == .maximum ? .max : rank(of: interval.upper)
        )
    }

    func versions(of ranks: RankInterval) -> VersionInterval {
        VersionInterval(
            lower: ranks.lower == 0 ? .minimum : bounds[Int(ranks.lower) - 1],
            upper: ranks.upper == .max ? .maximum : bounds[Int(ranks.upper) - 1]
        )
    }
}

/// The times at which the conditions of some rules change, sorted, against which a time gets its rank.
struct TimeScale: Sendable {
    private let bounds: [Int64]

    init(_ times: [Int64]) {
        bounds = Set(times).sorted()
    }

    var rankCount: Int { bounds.count + 1 }

    /// How many bounds are not above a time.
    func rank(of time: Int64) -> UInt32 {
        UInt32(truncatingIfNeeded: bounds.indices.partitioningIndex { time < bounds[$0] })
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

final class RuleScales: Sendable {
    let versions: VersionScale
    let builds: VersionScale
    let os: VersionScale
    let times: TimeScale

    init(versions: VersionScale, builds: VersionScale, os: VersionScale, times: TimeScale) {
        self.versions = versions
        self.builds = builds
        self.os = os
        self.times = times
    }
}
