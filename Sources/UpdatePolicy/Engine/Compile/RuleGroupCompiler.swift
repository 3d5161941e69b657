struct RuleGroupCompiler {
    /// What stands for `{app}`; `nil` in the rules for every app.
    private let app: String?
    private let rows: [Rule]
    private var rules: [CompiledRule] = []
    private var pools: RulePools
    private var platformNumbers: PlatformNumbers
    private var textLanguages: NameTable

    private init(
        _ rows: [Rule],
        _ app: String?,
        _ platformNumbers: PlatformNumbers,
        _ textLanguages: NameTable,
        _ hashSeed: UInt64
    ) {
        self.rows = rows
        self.app = app
        self.platformNumbers = platformNumbers
        self.textLanguages = textLanguages
        pools = RulePools(hashSeed: hashSeed)
    }

    /// The group of some rules; `nil` where there are none.
    static func group(
        _ rows: [Rule],
        ofApp app: String?,
        _ platformNumbers: inout PlatformNumbers,
        _ textLanguages: inout NameTable,
        _ hashSeed: UInt64
    ) throws(PolicyError) -> RuleGroup? {
        if rows.isEmpty { return nil }
        let isSorted = zip(rows, rows.dropFirst()).allSatisfy { !Rule.precedes($1, $0) }
        let sorted = isSorted ? rows : rows.sorted(by: Rule.precedes)
        var compiler = Self(sorted, app, platformNumbers, textLanguages, hashSeed)
        try compiler.compileRules()
        let scales = try compiler.rank()
        platformNumbers = compiler.platformNumbers
        textLanguages = compiler.textLanguages
        return RuleGroup(compiler.rows, compiler.rules, compiler.pools, scales)
    }

    private mutating func compileRules() throws(PolicyError) {
        rules.reserveCapacity(rows.count)
        pools.tails.reserveCapacity(rows.count)
        pools.ends.reserveCapacity(rows.count)
        for row in rows { rules.append(try compile(row)) }
    }

    private mutating func rank() throws(PolicyError) -> RuleScales {
        var ranges: [RuleRanges] = []
        ranges.reserveCapacity(rows.count)
        for row in rows { ranges.append(try RuleRanges(row)) }
        let scales = RuleScales(
            versions: VersionScale(ranges.flatMap { $0.versionBounds }),
            builds: VersionScale(ranges.flatMap { RuleRanges.bounds($0.builds) }),
            os: VersionScale(ranges.flatMap { RuleRanges.bounds($0.os) }),
            times: TimeScale(
                rules.flatMap { rule in [rule.startsAt, rule.endsAt].filter { $0 != .min && $0 != .max } })
        )
        for (index, ranges) in ranges.enumerated() {
            rules[index].versions = pools.intervals.appendRun(ranges.versions.map(scales.versions.ranks))
            rules[index].builds = pools.intervals.appendRun(ranges.builds.map(scales.builds.ranks))
            rules[index].os = pools.intervals.appendRun(ranges.os.map(scales.os.ranks))
            pools.ends.append(ranges.end)
            if let target = ranges.target {
                rules[index].flags.insert(.hasTarget)
                rules[index].targetRank = scales.versions.rank(of: target)
                rules[index].target = UInt32(pools.targets.count)
                pools.targets.append(target)
            }
        }
        return scales
    }
}

extension RuleGroupCompiler {
    private mutating func compile(_ rule: Rule) throws(PolicyError) -> CompiledRule {
        let row = "rule \(rule.key)"
        var compiled = CompiledRule()
        compiled.flags = flags(of: rule)
        compiled.rollout = UInt16(rule.rollout.hundredths)
        compiled.soak = rule.soakMicroseconds
        compiled.startsAt = rule.startsAt?.microsecondsSince1970 ?? .min
        compiled.endsAt = rule.endsAt?.microsecondsSince1970 ?? .max

        if let platforms = try elements(rule.platforms, "platforms", row) {
            compiled.platforms = pools.platforms.appendRun(Self.distinct(platforms.map { platformNumbers.insert($0) }))
        }
        compiled.regions = try pools.regions.appendRun(ofCodes: rule.regions, row)
        if let languages = try elements(rule.languages, "languages", row) {
            let tags = languages.map { LanguageTag($0) }
            compiled.languages = pools.languages.appendRun(tags.first(where: \.isWildcard).map { [$0] } ?? tags)
        }
        if let attributes = try elements(rule.attributes, "attributes", row) {
            compiled.attributes = pools.attributes.appendRun(
                attributes
                    .map { CompiledAttribute(name: UTF8Text($0.name), values: $0.values.map { UTF8Text($0) }) }
                    .sorted { $0.name < $1.name }
            )
        }
        compiled.steps = pools.steps.appendRun(
            rule.effectiveSteps
                .sorted { $0.at < $1.at }
                .map { CompiledStep(at: $0.at.microsecondsSince1970, rollout: UInt16($0.rollout.hundredths)) }
        )
        prepareMessages(rule, &compiled)
        return compiled
    }

    private func flags(of rule: Rule) -> CompiledRule.Flags {
        var flags: CompiledRule.Flags = []
        if rule.enabled { flags.insert(.enabled) }
        if rule.lockout { flags.insert(.lockout) }
        if rule.lockout && !rule.lockoutWithoutUpdate { flags.insert(.needsWayOut) }
        if rule.final { flags.insert(.final) }
        if rule.link == "store" { flags.insert(.linksToStore) }
        let namesApp =
            TextTemplate.names("{app}", in: rule.title) || TextTemplate.names("{app}", in: rule.text)
            || rule.texts.contains {
                TextTemplate.names("{app}", in: $0.title) || TextTemplate.names("{app}", in: $0.text)
            }
        if rule.bundle == nil && namesApp { flags.insert(.namesApp) }
        return flags
    }

    /// Writes the rule's message in every language, its link, its hints and its lockout into the shared bytes.
    private mutating func prepareMessages(_ rule: Rule, _ compiled: inout CompiledRule) {
        pools.tails.append(
            MessageTail(
                link: prepare { bytes in
                    if let link = rule.link, link != "store" { MessageBytes.append(link: link, to: &bytes) }
                },
                hints: prepare { bytes in if let hints = rule.hints { MessageBytes.append(hints, to: &bytes) } },
                lockout: prepare { bytes in
                    if rule.lockout { MessageBytes.appendLockout(until: rule.until, to: &bytes) }
                }
            )
        )
        let name = app ?? "{app}"
        let start = pools.fragments.count
        prepare(rule, rule.title, rule.text, name)
        var languages: [TextLanguage] = []
        for text in rule.texts {
            prepare(rule, text.title, text.text, name)
            let number = textLanguages.insert(LanguageTag(text.language).normalized)
            languages.append(TextLanguage(number: UInt32(number), place: UInt32(languages.count + 1)))
        }
        compiled.textLanguages = pools.textLanguages.appendRun(
            languages.sorted { ($0.number, $0.place) < ($1.number, $1.place) }
        )
        compiled.fragments = PoolRange(start: UInt32(start), count: UInt32(pools.fragments.count - start))
    }

    private mutating func prepare(_ write: (inout [UInt8]) -> Void) -> Range<Int> {
        let start = pools.bytes.count
        write(&pools.bytes)
        return start..<pools.bytes.count
    }

    private mutating func prepare(_ rule: Rule, _ title: String, _ text: String, _ app: String) {
        let message = prepare { bytes in
            MessageBytes.append(
                id: rule.key, title: rule.filled(title, app: app), text: rule.filled(text, app: app), to: &bytes
            )
        }
        pools.fragments.append(message)
    }

    private static func distinct(_ platforms: [Int32]) -> [Int32] {
        Array(Set(platforms)).sorted()
    }
}

private func elements<Element>(_ list: [Element]?, _ column: String, _ row: String) throws(PolicyError) -> [Element]? {
    guard let list else { return nil }
    guard !list.isEmpty else {
        throw PolicyError(row: row, reason: "has an empty list of \(column); no condition is null")
    }
    return list
}

extension [UInt16] {
    /// Appends the letters of regions, each once, and tells where they are; an empty run for no condition.
    mutating func appendRun(ofCodes codes: [String]?, _ row: String) throws(PolicyError) -> PoolRange {
        guard let codes = try elements(codes, "regions", row) else { return .empty }
        let start = count
        for code in codes {
            guard let region = Region(code: code) else {
                throw PolicyError(row: row, reason: "has the region \"\(code)\", which is no assigned country code")
            }
            if !self[start...].contains(region.letters) { append(region.letters) }
        }
        self[start...].sort()
        return PoolRange(start: UInt32(start), count: UInt32(count - start))
    }
}

struct RuleRanges {
    let versions: [VersionInterval]
    let builds: [VersionInterval]
    let os: [VersionInterval]
    let target: VersionKey?
    /// How the rule writes the version where those end that it reaches; `nil` where it writes none.
    let end: String?

    init(_ rule: Rule) throws(PolicyError) {
        versions = try Self.intervals(rule.versions, "versions", rule)
        builds = try Self.intervals(rule.builds, "builds", rule)
        os = try Self.intervals(rule.os, "os", rule)
        var reached = VersionInterval.all
        if let target = rule.target {
            guard let version = AppVersion(target) else {
                throw PolicyError(row: "rule \(rule.key)", reason: "has the target \"\(target)\", which cannot be read")
            }
            (reached.upper, reached.upperText) = (version.key, target)
        }
        target = rule.target == nil ? nil : reached.upper
        if let last = versions.last(where: { $0.lower < reached.upper }) { reached.formIntersection(last) }
        end = reached.upperText
    }

    var versionBounds: [VersionKey] {
        Self.bounds(versions) + (target.map { [$0] } ?? [])
    }

    static func bounds(_ intervals: [VersionInterval]) -> [VersionKey] {
        intervals.flatMap { [$0.lower, $0.upper] }.filter { $0 != .minimum && $0 != .maximum }
    }

    private static func intervals(
        _ text: String?,
        _ column: String,
        _ rule: Rule
    ) throws(PolicyError) -> [VersionInterval] {
        guard let text else { return [] }
        guard let range = VersionRange(text) else {
            throw PolicyError(row: "rule \(rule.key)", reason: "\(column): the range \"\(text)\" cannot be read")
        }
        return range.intervals
    }
}
