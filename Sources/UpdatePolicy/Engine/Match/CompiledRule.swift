/// The conditions of a rule as a check compares them: integers and runs of shared arrays, nothing that is counted.
///
/// An empty run is no condition.
struct CompiledRule: Sendable {
    struct Flags: OptionSet, Sendable {
        let rawValue: UInt8

        static let enabled = Flags(rawValue: 1 << 0)
        static let hasTarget = Flags(rawValue: 1 << 1)
        static let lockout = Flags(rawValue: 1 << 2)
        static let needsWayOut = Flags(rawValue: 1 << 3)
        static let final = Flags(rawValue: 1 << 4)
        static let linksToStore = Flags(rawValue: 1 << 5)
        static let namesApp = Flags(rawValue: 1 << 6)
    }

    var flags: Flags = []
    var rollout: UInt16 = 10_000

    var versions = PoolRange.empty
    var builds = PoolRange.empty
    var os = PoolRange.empty
    var platforms = PoolRange.empty
    var regions = PoolRange.empty
    var languages = PoolRange.empty
    var attributes = PoolRange.empty
    var steps = PoolRange.empty

    /// The prepared messages: the rule's own, then its translations.
    var fragments = PoolRange.empty

    /// The languages of its translations, sorted.
    var textLanguages = PoolRange.empty

    /// The ranks of versions below the target; of all versions where there is none.
    var targetRank = UInt32.max

    var target: UInt32 = 0
    var soak: Int64 = 0
    var startsAt = Int64.min
    var endsAt = Int64.max
}

/// The arrays that the rules of a group share.
struct RulePools: Sendable {
    var intervals: [RankInterval] = []
    var platforms: [Int32] = []
    var regions: [UInt16] = []
    var attributes: [CompiledAttribute] = []
    /// The indexes of listed values on the scale of all.
    var values: [UInt32] = []
    var steps: [CompiledStep] = []
    var targets: [VersionKey] = []

    /// For each rule how it writes the version where those end that it reaches; `nil` where it writes none.
    var ends: [String?] = []

    /// Where the prepared bytes of messages lie, up to the link.
    var fragments: [Range<Int>] = []
    var textLanguages: [TextLanguage] = []
    var bytes: [UInt8] = []

    /// For each rule what follows its text, in any language.
    var tails: [MessageTail] = []
}

extension Array {
    mutating func appendRun(_ elements: some Sequence<Element>) -> PoolRange {
        let start = count
        append(contentsOf: elements)
        return PoolRange(start: UInt32(start), count: UInt32(count - start))
    }
}

/// A run of elements in an array that many rules or releases share.
struct PoolRange: Sendable {
    var start: UInt32 = 0
    var count: UInt32 = 0

    static let empty = PoolRange()

    @inline(__always)
    var isEmpty: Bool { count == 0 }

    /// Whether it is quicker to halve the run than to look at each of its elements.
    @inline(__always)
    var isLong: Bool { count > 8 }

    @inline(__always)
    var indices: Range<Int> { Int(start)..<Int(start &+ count) }
}

struct CompiledAttribute: Sendable {
    /// The index of its name on the scale of names; of a range one behind these, where a check has it as a version.
    let name: UInt32

    /// The index of the value where one alone is accepted, as mostly.
    let onlyValue: UInt32

    /// Where the listed values are, or the intervals of a range; a range of one interval is here itself.
    let values: PoolRange

    var interval: RankInterval { RankInterval(lower: values.start, upper: values.count) }

    /// What stands in place of the only value where there are several, where all but some are accepted, of a range of one
    /// interval, and of one of several.
    static let several = UInt32.max - 4
    static let not = UInt32.max - 3
    static let interval = UInt32.max - 2
    static let range = UInt32.max - 1
}

extension [UInt16] {
    @inline(__always)
    func holds(_ region: UInt16, in indices: Range<Int>) -> Bool {
        let first = indices.count > 8 ? indices.partitioningIndex { self[$0] >= region } : indices.lowerBound
        for index in first..<indices.upperBound where self[index] >= region { return self[index] == region }
        return false
    }
}

struct CompiledStep: Sendable {
    let at: Int64
    let rollout: UInt16
}

struct TextLanguage: Sendable {
    let number: UInt32
    /// One more than the index of the translation among the rule's.
    let place: UInt32
}

/// Where the prepared bytes of what follows the text of a message lie, each from the comma before its first name on.
struct MessageTail: Sendable {
    let link: Range<Int>
    let hints: Range<Int>
    let lockout: Range<Int>
}
