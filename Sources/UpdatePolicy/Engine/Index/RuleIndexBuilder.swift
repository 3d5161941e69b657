/// Decides under which condition each rule is indexed, and collects the entries of a ``RuleIndex``.
struct RuleIndexBuilder {
    var scanned: [UInt32] = []
    var versions: [(interval: RankInterval, rule: UInt32)] = []
    var builds: [(interval: RankInterval, rule: UInt32)] = []
    var os: [(interval: RankInterval, rule: UInt32)] = []
    var times: [(interval: RankInterval, rule: UInt32)] = []
    var regions: [(hash: UInt64, rule: UInt32)] = []
    var languages: [(hash: UInt64, rule: UInt32)] = []
    var attributes: [(hash: UInt64, rule: UInt32)] = []

    private let compiled: [CompiledRule]
    private let pools: RulePools
    private let scales: RuleScales
    private var knownRegions: Set<UInt16> = []
    private var knownLanguages: Set<LanguageTag> = []
    private var knownValues: [UTF8Text: Set<UTF8Text>] = [:]

    private enum Key {
        case versions
        case builds
        case os
        case times
        case regions
        case languages
        case attribute(Int)
    }

    init(_ compiled: [CompiledRule], _ pools: RulePools, _ scales: RuleScales) {
        self.compiled = compiled
        self.pools = pools
        self.scales = scales
    }

    /// Collects the values that the rules name; `insert` weighs each condition against how many there are.
    mutating func countValues(_ rules: [UInt32]) {
        for rule in rules {
            let rule = compiled[Int(rule)]
            for index in rule.regions.indices { knownRegions.insert(pools.regions[index]) }
            for index in rule.languages.indices { knownLanguages.insert(pools.languages[index]) }
            for index in rule.attributes.indices {
                let attribute = pools.attributes[index]
                knownValues[attribute.name, default: []].formUnion(attribute.values)
            }
        }
    }

    /// Adds a rule under the condition that holds for the smallest share of the values.
    mutating func insert(_ number: UInt32) {
        let rule = compiled[Int(number)]
        var best: Key?
        var smallest = 1.0
        func weigh(_ key: Key, _ share: Double) {
            if share < smallest {
                smallest = share
                best = key
            }
        }
        let versionRanks = self.versionRanks(of: rule)
        if let versionRanks { weigh(.versions, share(of: versionRanks, scales.versions.rankCount)) }
        if !rule.builds.isEmpty {
            weigh(.builds, share(of: Array(pools.intervals[rule.builds.indices]), scales.builds.rankCount))
        }
        if !rule.os.isEmpty {
            weigh(.os, share(of: Array(pools.intervals[rule.os.indices]), scales.os.rankCount))
        }
        if rule.startsAt != .min || rule.endsAt != .max {
            weigh(.times, share(of: [timeRanks(of: rule)], scales.times.rankCount))
        }
        if !rule.regions.isEmpty {
            weigh(.regions, Double(rule.regions.count) / Double(knownRegions.count + 1))
        }
        if !rule.languages.isEmpty, !pools.languages[rule.languages.indices].contains(where: { $0.isWildcard }) {
            weigh(.languages, Double(rule.languages.count) / Double(knownLanguages.count + 1))
        }
        for index in rule.attributes.indices {
            let attribute = pools.attributes[index]
            let known = knownValues[attribute.name]?.count ?? 0
            weigh(.attribute(index), Double(attribute.values.count) / Double(known + 1))
        }

        switch best {
        case .versions: versions += (versionRanks ?? []).map { ($0, number) }
        case .builds: builds += pools.intervals[rule.builds.indices].map { ($0, number) }
        case .os: os += pools.intervals[rule.os.indices].map { ($0, number) }
        case .times: times.append((timeRanks(of: rule), number))
        case .regions:
            regions += pools.regions[rule.regions.indices].map { region in
                (HashIndex.hash(region: region, seed: pools.hashSeed), number)
            }
        case .languages:
            languages += pools.languages[rule.languages.indices].map { language in
                (HashIndex.hash(language: language, seed: pools.hashSeed), number)
            }
        case .attribute(let index):
            let attribute = pools.attributes[index]
            attributes += attribute.values.map { value in
                (HashIndex.hash(attribute: attribute.name, value: value, seed: pools.hashSeed), number)
            }
        case nil: scanned.append(number)
        }
    }

    /// The ranks of the versions that meet both the rule's range and its target; `nil` where it has neither.
    private func versionRanks(of rule: CompiledRule) -> [RankInterval]? {
        let hasTarget = rule.flags.contains(.hasTarget)
        guard hasTarget || !rule.versions.isEmpty else { return nil }
        if rule.versions.isEmpty { return [RankInterval(lower: 0, upper: rule.targetRank)] }
        return pools.intervals[rule.versions.indices].compactMap { interval in
            let upper = min(interval.upper, rule.targetRank)
            return interval.lower < upper ? RankInterval(lower: interval.lower, upper: upper) : nil
        }
    }

    private func timeRanks(of rule: CompiledRule) -> RankInterval {
        RankInterval(
            lower: rule.startsAt == .min ? 0 : scales.times.rank(of: rule.startsAt),
            upper: rule.endsAt == .max ? .max : scales.times.rank(of: rule.endsAt)
        )
    }

    private func share(of intervals: [RankInterval], _ rankCount: Int) -> Double {
        let covered = intervals.reduce(0) { $0 + min(Int($1.upper), rankCount) - Int($1.lower) }
        return Double(covered) / Double(rankCount)
    }
}
