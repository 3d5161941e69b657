/// Rules over all versions at once: up to which version each of them below is sent a message, or locked out.
///
/// Rules are given in the order of messages. All bounds of their versions are sorted once; between two bounds nothing
/// changes, so walking over them with trees of what is in force costs O(n log n) for n bounds.
struct VersionSweep {
    struct Entry {
        /// The versions it reaches, sorted, in intervals that do not touch.
        let versions: [VersionInterval]
        /// Whether it is sent to each of them unless a final rule is sent before it; else it only may be.
        let isCertain: Bool
        let isFinal: Bool
        /// Where the versions end that it certainly locks out, as far as it reaches them; `nil` for none.
        let lockoutEnd: VersionKey?

        var end: VersionKey { versions[versions.count - 1].upper }
    }

    private static let none = UInt32.max

    /// The bounds of all versions, sorted, each once.
    private let bounds: [VersionKey]

    /// For each bound, the index of the greatest of the ends that are needed to reach all versions below it: of each
    /// version the least end of a rule that reaches it.
    private let prompted: [UInt32]
    private let lockedOut: [UInt32]

    init(_ entries: [Entry]) {
        var bounds: [VersionKey] = []
        for entry in entries {
            for interval in entry.versions { bounds += [interval.lower, interval.upper] }
            if let end = entry.lockoutEnd { bounds.append(end) }
        }
        bounds.sort()
        self.bounds = bounds.reduce(into: []) { distinct, bound in
            if distinct.last.map({ $0 < bound }) ?? true { distinct.append(bound) }
        }
        (prompted, lockedOut) = Self.walk(entries, self.bounds)
    }

    /// A change at a bound in what reaches the versions behind it.
    private struct Edge {
        enum Kind { case final, prompt, lockout }
        let bound: UInt32
        let entry: UInt32
        let kind: Kind
        let isStart: Bool
    }

    private static func walk(_ entries: [Entry], _ bounds: [VersionKey]) -> (prompted: [UInt32], lockedOut: [UInt32]) {
        let edges = edges(entries, bounds)
        let ends = entries.map { index(of: $0.end, in: bounds) }
        var finals = MinimumTree(count: entries.count)
        var prompts = MinimumTree(count: entries.count)
        var lockouts = MinimumTree(count: entries.count)
        var prompted: [UInt32] = []
        var lockedOut: [UInt32] = []
        prompted.reserveCapacity(bounds.count)
        lockedOut.reserveCapacity(bounds.count)
        // Where the first bound is not that of all versions, those below it are not reached.
        let isBegun = bounds.first == .minimum
        var promptedSoFar = isBegun ? 0 : none
        var lockedOutSoFar = isBegun ? 0 : none
        var next = 0
        for bound in bounds.indices {
            prompted.append(promptedSoFar)
            lockedOut.append(lockedOutSoFar)
            while next < edges.count, edges[next].bound == bound {
                let edge = edges[next]
                let entry = Int(edge.entry)
                switch edge.kind {
                case .final: finals.set(entry, edge.isStart ? edge.entry : none)
                case .prompt: prompts.set(entry, edge.isStart ? ends[entry] : none)
                case .lockout: lockouts.set(entry, edge.isStart ? ends[entry] : none)
                }
                next += 1
            }
            let last = finals.minimum == none ? entries.count - 1 : Int(finals.minimum)
            promptedSoFar = max(promptedSoFar, prompts.minimum(upTo: last))
            lockedOutSoFar = max(lockedOutSoFar, lockouts.minimum(upTo: last))
        }
        return (prompted, lockedOut)
    }

    private static func edges(_ entries: [Entry], _ bounds: [VersionKey]) -> [Edge] {
        var edges: [Edge] = []
        edges.reserveCapacity(2 * entries.count)
        for (number, entry) in entries.enumerated() {
            for interval in entry.versions {
                let lower = index(of: interval.lower, in: bounds)
                let upper = index(of: interval.upper, in: bounds)
                func append(_ kind: Edge.Kind, upTo end: UInt32) {
                    guard lower < end else { return }
                    edges.append(Edge(bound: lower, entry: UInt32(number), kind: kind, isStart: true))
                    edges.append(Edge(bound: end, entry: UInt32(number), kind: kind, isStart: false))
                }
                if entry.isFinal { append(.final, upTo: upper) }
                guard entry.isCertain else { continue }
                append(.prompt, upTo: upper)
                if let end = entry.lockoutEnd { append(.lockout, upTo: min(upper, index(of: end, in: bounds))) }
            }
        }
        // Ends come before starts, so that an entry whose intervals meet stays in force.
        return edges.sorted { ($0.bound, $0.isStart ? 1 : 0) < ($1.bound, $1.isStart ? 1 : 0) }
    }

    /// How many bounds are below a key: its index where it is a bound.
    private static func index(of key: VersionKey, in bounds: [VersionKey]) -> UInt32 {
        UInt32(truncatingIfNeeded: bounds.indices.partitioningIndex { !(bounds[$0] < key) })
    }

    /// Whether every version below this one is sent the message of a rule that reaches none from this one on.
    func isPrompt(_ version: VersionKey) -> Bool {
        reaches(prompted, all: version, version)
    }

    /// Whether every version whose numbers are below those of this one is locked out by a rule that reaches none from
    /// this one on.
    func isFloor(_ version: VersionKey) -> Bool {
        var reader = VersionKeyReader(version)
        _ = reader.numbers()
        return reaches(lockedOut, all: reader.isAtEndOfRelease ? version.family : version, version)
    }

    private func reaches(_ needed: [UInt32], all end: VersionKey, _ version: VersionKey) -> Bool {
        let index = Int(Self.index(of: end, in: bounds))
        guard index > 0, index < needed.count else { return false }
        return needed[index] <= Self.index(of: version, in: bounds) && needed[index] != Self.none
    }
}

/// Numbers of which the least among the first so many is found, and any is changed, in O(log n).
private struct MinimumTree {
    private let width: Int
    /// The node 1 is the root, the children of the node i are 2i and 2i + 1, and the leaves begin at `width`.
    private var nodes: [UInt32]

    init(count: Int) {
        var width = 1
        while width < count { width *= 2 }
        self.width = width
        nodes = [UInt32](repeating: .max, count: 2 * width)
    }

    var minimum: UInt32 { nodes[1] }

    mutating func set(_ index: Int, _ value: UInt32) {
        var node = width + index
        nodes[node] = value
        while node > 1 {
            node /= 2
            nodes[node] = min(nodes[2 * node], nodes[2 * node + 1])
        }
    }

    /// The least from the first to the one at an index.
    func minimum(upTo index: Int) -> UInt32 {
        var node = width + index
        var least = nodes[node]
        while node > 1 {
            if node % 2 == 1 { least = min(least, nodes[node - 1]) }
            node /= 2
        }
        return least
    }
}
