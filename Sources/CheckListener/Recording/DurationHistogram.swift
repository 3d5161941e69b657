/// How many durations fell below some bounds.
package struct DurationHistogram: Sendable, Equatable {
    /// The upper bounds of the buckets in nanoseconds: from 5 microseconds, less than a check takes, to a second.
    package static let bounds: [UInt64] = [
        5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 5_000_000, 25_000_000, 100_000_000,
        1_000_000_000,
    ]

    package init() {}

    /// For each bound how many durations were at most as long and longer than the bound before; then the longer ones.
    package private(set) var counts = [UInt64](repeating: 0, count: bounds.count + 1)
    package private(set) var sum: UInt64 = 0

    package var count: UInt64 { counts.reduce(0, +) }

    /// Adds a duration in nanoseconds, as often as it was one.
    @inline(__always)
    package mutating func record(_ duration: UInt64, count: UInt64 = 1) {
        var bucket = 0
        while bucket < Self.bounds.count, duration > Self.bounds[bucket] { bucket &+= 1 }
        counts[bucket] &+= count
        sum &+= duration &* count
    }

    mutating func add(_ other: DurationHistogram) {
        for bucket in counts.indices { counts[bucket] &+= other.counts[bucket] }
        sum &+= other.sum
    }
}
