/// The rules of one group that a client of one platform, or of any, can meet at all.
///
/// Each rule is indexed under one of its conditions, the one that the fewest clients meet: an interval of versions,
/// builds, versions of the operating system or times, or a value of region, language or an attribute. A check looks up
/// the client's own values, so it sees few of the rules that do not match. Each rule that is found must still be tested,
/// and a rule may be found twice.
final class RuleIndex: Sendable {
    /// Up to this number, all rules are tested and none is indexed.
    private static let mostScanned = 8

    private let scanned: [UInt32]
    private let versions: IntervalIndex
    private let builds: IntervalIndex
    private let os: IntervalIndex
    private let times: IntervalIndex
    private let regions: HashIndex
    private let languages: HashIndex
    private let attributes: HashIndex
    private let hashSeed: UInt64

    init(_ rules: [UInt32], _ compiled: [CompiledRule], _ pools: RulePools, _ scales: RuleScales) {
        var builder = RuleIndexBuilder(compiled, pools, scales)
        if rules.count <= Self.mostScanned {
            builder.scanned = rules
        } else {
            builder.countValues(rules)
            for rule in rules { builder.insert(rule) }
        }
        scanned = builder.scanned
        versions = IntervalIndex(builder.versions)
        builds = IntervalIndex(builder.builds)
        os = IntervalIndex(builder.os)
        times = IntervalIndex(builder.times)
        regions = HashIndex(builder.regions)
        languages = HashIndex(builder.languages)
        attributes = HashIndex(builder.attributes)
        hashSeed = pools.hashSeed
    }

    func appendCandidates(
        for client: borrowing Client,
        _ facts: CheckFacts,
        on scales: RuleScales,
        to numbers: inout IndexList
    ) {
        for rule in scanned { numbers.append(rule) }
        versions.append(at: facts.versionRank, to: &numbers)
        if !builds.isEmpty { builds.append(at: facts.buildRank, to: &numbers) }
        if !os.isEmpty { os.append(at: facts.osRank, to: &numbers) }
        if !times.isEmpty { times.append(at: scales.times.rank(of: facts.time), to: &numbers) }
        if !regions.isEmpty, facts.region != 0 {
            regions.append(HashIndex.hash(region: facts.region, seed: hashSeed), to: &numbers)
        }
        if !attributes.isEmpty {
            client.forEachAttribute { name, value in
                attributes.append(HashIndex.hash(attribute: name, value: value, seed: hashSeed), to: &numbers)
            }
        }
        if !languages.isEmpty, let language = client.language {
            HashIndex.forEachRange(of: language, seed: hashSeed) { languages.append($0, to: &numbers) }
        }
    }
}
