/// The intervals that hold a rank, found without looking at the others.
///
/// Each interval is kept once, sorted by its lower bound, under a tree of maxima: each node knows the greatest upper
/// bound of 16 below it. A rank walks down only into nodes that reach beyond it, so the cost is O(log n) for each
/// interval found, and memory is O(n) however much they overlap.
struct IntervalIndex: Sendable {
    private static let fanOut = 16
    private static let fanOutBits = 4

    private let lowers: [UInt32]
    private let rules: [UInt32]

    /// The upper bounds, then for each level the maxima of 16 of the level below, up to a level of at most 16.
    private let uppers: [UInt32]

    private let levelStarts: [Int]

    init(_ entries: [(interval: RankInterval, rule: UInt32)]) {
        let sorted = entries.sorted { ($0.interval.lower, $0.rule) < ($1.interval.lower, $1.rule) }
        lowers = sorted.map(\.interval.lower)
        rules = sorted.map(\.rule)
        var uppers = sorted.map(\.interval.upper)
        var levelStarts = [0]
        while uppers.count - levelStarts[levelStarts.count - 1] > Self.fanOut {
            let level = levelStarts[levelStarts.count - 1]..<uppers.count
            levelStarts.append(uppers.count)
            for start in stride(from: level.lowerBound, to: level.upperBound, by: Self.fanOut) {
                uppers.append(uppers[start..<min(start + Self.fanOut, level.upperBound)].max() ?? 0)
            }
        }
        self.uppers = uppers
        self.levelStarts = levelStarts
    }

    var isEmpty: Bool { rules.isEmpty }

    func append(at rank: UInt32, to numbers: inout IndexList) {
        if rules.isEmpty || rank == RankInterval.unreadable { return }
        let end = lowers.indices.partitioningIndex { rank < lowers[$0] }
        if end > 0 { visit(level: levelStarts.count - 1, 0, in: end, at: rank, &numbers) }
    }

    /// Visits the children of a node, as far as they begin before the `end` of the intervals.
    private func visit(level: Int, _ node: Int, in end: Int, at rank: UInt32, _ numbers: inout IndexList) {
        let width = 1 << (Self.fanOutBits * level)
        let first = node * Self.fanOut
        let last = min(first + Self.fanOut, (end + width - 1) / width)
        for child in first..<last where uppers[levelStarts[level] + child] > rank {
            if level == 0 {
                numbers.append(rules[child])
            } else {
                visit(level: level - 1, child, in: end, at: rank, &numbers)
            }
        }
    }
}
