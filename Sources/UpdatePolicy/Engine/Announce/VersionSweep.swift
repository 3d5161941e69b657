/// Rules over all versions at once: up to which version each of them below is sent a message, or locked out.
///
/// Between two bounds of the rules' versions nothing changes. Of the rules `<1.1` and `>=1.0 <1.3` the bounds are 1.0, 1.1 and
/// 1.3, and the sections below 1.0, 1.0 up to 1.1, and 1.1 up to 1.3. The first rule reaches two of them and ends at 1.1, the
/// other reaches two and ends at 1.3: all below 1.3 are sent a message of a rule that ends at 1.3 or before.
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

    /// The bounds of all versions, sorted, each once.
    private let bounds: [VersionKey]

    /// For each bound the greatest end of a rule that is needed to reach all versions below it, as the index of that end: of
    /// each section the least end counts.
    private let prompted: [Int]
    private let lockedOut: [Int]
    private static let none = Int.max

    /// - Parameter entries: Rules in the order of messages.
    init(_ entries: [Entry]) {
        let ends = entries.flatMap { entry in
            entry.versions.flatMap { [$0.lower, $0.upper] } + [entry.lockoutEnd].compactMap(\.self)
        }
        let bounds = Set(ends).sorted()
        // For each section, which begins at a bound, the least end; and whether a final rule was sent to it.
        var prompts = [Int](repeating: Self.none, count: bounds.count)
        var lockouts = prompts
        var isClosed = [Bool](repeating: false, count: bounds.count)
        for entry in entries {
            let end = Self.index(of: entry.end, in: bounds)
            let lockoutEnd = entry.lockoutEnd.map { Self.index(of: $0, in: bounds) } ?? 0
            for interval in entry.versions {
                let sections = Self.index(of: interval.lower, in: bounds)..<Self.index(of: interval.upper, in: bounds)
                for section in sections where !isClosed[section] {
                    if entry.isCertain {
                        prompts[section] = min(prompts[section], end)
                        if section < lockoutEnd { lockouts[section] = min(lockouts[section], end) }
                    }
                    if entry.isFinal { isClosed[section] = true }
                }
            }
        }
        // Where the first bound is not that of all versions, those below it are not reached.
        func greatest(_ ends: [Int]) -> [Int] {
            var greatest = bounds.first == .minimum ? 0 : Self.none
            return ends.map { end in
                defer { greatest = max(greatest, end) }
                return greatest
            }
        }
        self.bounds = bounds
        prompted = greatest(prompts)
        lockedOut = greatest(lockouts)
    }

    /// How many bounds are below a key: its index where it is a bound.
    private static func index(of key: VersionKey, in bounds: [VersionKey]) -> Int {
        bounds.indices.partitioningIndex { !(bounds[$0] < key) }
    }

    /// Whether every version below this one is sent the message of a rule that reaches none from this one on.
    func isPrompt(_ version: VersionKey) -> Bool { reaches(prompted, all: version, version) }

    /// Whether every version whose numbers are below those of this one is locked out by a rule that reaches none from
    /// this one on.
    func isFloor(_ version: VersionKey) -> Bool {
        var reader = VersionKeyReader(key: version)
        _ = reader.numbers()
        return reaches(lockedOut, all: reader.isAtEndOfRelease ? version.family : version, version)
    }

    private func reaches(_ needed: [Int], all end: VersionKey, _ version: VersionKey) -> Bool {
        let index = Self.index(of: end, in: bounds)
        guard index > 0, index < needed.count else { return false }
        return needed[index] <= Self.index(of: version, in: bounds)
    }
}
