/// What the conditions of some rules name, sorted: a client is looked up in it once, and compared with each rule by small
/// integers.
final class RuleScales: Sendable {
    let versions: VersionScale
    let builds: VersionScale
    let os: VersionScale
    let languages: LanguageScale
    let attributeNames: TextScale
    /// The values that are listed of any attribute, and the bounds of ranges of any.
    let attributeValues: TextScale
    let attributeVersions: VersionScale
    /// Whether a rule has a range of the attribute whose name has an index; empty where none has any.
    let isAttributeVersion: [Bool]
    /// How many attributes a check compares: each by its value and, where rules have ranges, each also as a version.
    let attributeCount: Int

    init(_ ranges: [RuleRanges], _ rows: [Rule]) {
        versions = VersionScale(ranges.flatMap { $0.versionBounds })
        builds = VersionScale(ranges.flatMap { RuleRanges.bounds($0.builds) })
        os = VersionScale(ranges.flatMap { RuleRanges.bounds($0.os) })
        languages = LanguageScale(rows.flatMap { $0.languages ?? [] })
        let attributes = rows.flatMap { $0.attributes ?? [] }
        attributeNames = TextScale(attributes.map(\.name))
        attributeValues = TextScale(attributes.flatMap { $0.values.texts.map(\.string) })
        attributeVersions = VersionScale(ranges.flatMap { $0.attributes.flatMap(RuleRanges.bounds) })
        let ranged = TextScale(attributes.filter { $0.values.range != nil }.map(\.name))
        let names = attributeNames
        isAttributeVersion = ranged.count == 0 ? [] : names.texts.map { ranged.index(of: $0.string) != nil }
        attributeCount = names.count + isAttributeVersion.count
    }
}

/// A range of ranks, the upper bound exclusive.
///
/// The rank of a value is the number of bounds, in a sorted list, that are not above it. With the bounds 1.1 and 1.3 the
/// versions below 1.1 have the rank 0, those from 1.1 on the rank 1, and 1.3 and later ones 2: `<1.3` is 0 up to 2.
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

/// The versions that the conditions of some rules name as bounds.
///
/// The first 16 bytes of the keys lie in arrays of their own: to compare them counts no reference to the rare rest.
struct VersionScale: Sendable {
    private let highs: [UInt64]
    private let lows: [UInt64]
    private let bounds: [VersionKey]

    init(_ versions: [VersionKey]) {
        bounds = Set(versions).sorted()
        highs = bounds.map(\.high)
        lows = bounds.map(\.low)
    }

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

/// Some texts, each once, in the order of their bytes.
struct TextScale: Sendable {
    let texts: [UTF8Text]

    init(_ texts: [String]) {
        self.texts = Set(texts.map { UTF8Text($0) }).sorted()
    }

    var count: Int { texts.count }

    /// How many of them are not above a text.
    func rank(of text: UnsafeRawBufferPointer) -> UInt32 {
        UInt32(truncatingIfNeeded: texts.indices.partitioningIndex { texts[$0].string.withBytes(text.precedes) })
    }

    func index(of text: UnsafeRawBufferPointer) -> Int? {
        if count <= 8 { return texts.firstIndex { $0.string.withBytes(text.hasSameBytes) } }
        let rank = Int(rank(of: text))
        return rank > 0 && texts[rank - 1].string.withBytes(text.hasSameBytes) ? rank - 1 : nil
    }

    func index(of text: String) -> Int? { text.withBytes { index(of: $0) } }
}

/// The languages of the conditions of some rules.
///
/// In the order of bytes `de` holds itself and what begins with `de-`, which ends before `de.`: two intervals.
struct LanguageScale: Sendable {
    private let bounds: TextScale

    init(_ ranges: [String]) {
        bounds = TextScale(ranges.map { LanguageTag($0) }.flatMap(Self.bounds))
    }

    private static func bounds(of range: LanguageTag) -> [String] {
        range.isWildcard ? [] : ["", "\0", "-", "."].map { range.normalized + $0 }
    }

    @inline(__always)
    func rank(of tag: LanguageTag) -> UInt32 { bounds.count == 0 ? 0 : tag.normalized.withBytes(bounds.rank) }

    /// The ranks of the tags that language ranges hold, sorted, none touching the next.
    func ranks(of ranges: [String]) -> [RankInterval] {
        let tags = ranges.map { LanguageTag($0) }
        if tags.contains(where: \.isWildcard) { return [RankInterval(lower: 0, upper: .max)] }
        let intervals = tags.flatMap { tag in
            let ranks = Self.bounds(of: tag).map { $0.withBytes(bounds.rank) }
            return [RankInterval(lower: ranks[0], upper: ranks[1]), RankInterval(lower: ranks[2], upper: ranks[3])]
        }
        return intervals.sorted { ($0.lower, $1.upper) < ($1.lower, $0.upper) }.reduce(into: []) { merged, interval in
            // What begins in another interval ends in it.
            if merged.last.map({ $0.upper <= interval.lower }) ?? true { merged.append(interval) }
        }
    }
}
