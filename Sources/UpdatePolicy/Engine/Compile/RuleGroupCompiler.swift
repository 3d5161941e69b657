struct RuleGroupCompiler {
    /// What stands for `{app}`; `nil` in the rules for every app.
    private let app: String?
    private let scales: RuleScales
    private var pools = RulePools()
    private var platformNumbers: PlatformNumbers
    private var textLanguages: NameTable

    /// The group of some rules; `nil` where there are none.
    static func group(
        _ rows: [Rule],
        ofApp app: String?,
        _ platformNumbers: inout PlatformNumbers,
        _ textLanguages: inout NameTable
    ) throws(PolicyError) -> RuleGroup? {
        if rows.isEmpty { return nil }
        let isSorted = zip(rows, rows.dropFirst()).allSatisfy { !Rule.precedes($1, $0) }
        let rows = isSorted ? rows : rows.sorted(by: Rule.precedes)
        let ranges = try rows.map { row throws(PolicyError) in try RuleRanges(row) }
        var compiler = Self(
            app: app, scales: RuleScales(ranges, rows), platformNumbers: platformNumbers, textLanguages: textLanguages
        )
        var rules: [CompiledRule] = []
        rules.reserveCapacity(rows.count)
        compiler.pools.tails.reserveCapacity(rows.count)
        compiler.pools.ends.reserveCapacity(rows.count)
        for (row, ranges) in zip(rows, ranges) { rules.append(try compiler.compile(row, ranges)) }
        platformNumbers = compiler.platformNumbers
        textLanguages = compiler.textLanguages
        return RuleGroup(rows, rules, compiler.pools, compiler.scales)
    }
}

extension RuleGroupCompiler {
    private mutating func compile(_ rule: Rule, _ ranges: RuleRanges) throws(PolicyError) -> CompiledRule {
        let row = "rule \(rule.key)"
        var compiled = CompiledRule()
        compiled.flags = flags(of: rule)
        compiled.rollout = UInt16(rule.rollout.hundredths)
        compiled.soak = rule.soakMicroseconds
        compiled.startsAt = rule.startsAt?.microsecondsSince1970 ?? .min
        compiled.endsAt = rule.endsAt?.microsecondsSince1970 ?? .max

        compiled.versions = pools.intervals.appendRun(ranges.versions.map(scales.versions.ranks))
        compiled.builds = pools.intervals.appendRun(ranges.builds.map(scales.builds.ranks))
        compiled.os = pools.intervals.appendRun(ranges.os.map(scales.os.ranks))
        pools.ends.append(ranges.end)
        if let target = ranges.target {
            compiled.flags.insert(.hasTarget)
            compiled.targetRank = scales.versions.rank(of: target)
            compiled.target = UInt32(pools.targets.count)
            pools.targets.append(target)
        }
        if let platforms = try elements(rule.platforms, "platforms", row) {
            compiled.platforms = pools.platforms.appendRun(Set(platforms.map { platformNumbers.insert($0) }).sorted())
        }
        if let regions = try [UInt16](regions: rule.regions, row) {
            compiled.regions = pools.regions.appendRun(regions)
        }
        if let languages = try elements(rule.languages, "languages", row) {
            compiled.languages = pools.intervals.appendRun(scales.languages.ranks(of: languages))
        }
        if let attributes = try elements(rule.attributes, "attributes", row) {
            let compiledAttributes = zip(attributes.byName, ranges.attributes).map { attribute, intervals in
                let name = UInt32(scales.attributeNames.index(of: attribute.name) ?? 0)
                if attribute.values.range != nil {
                    let place = name + UInt32(scales.attributeNames.count)
                    let ranks = intervals.map(scales.attributeVersions.ranks)
                    if ranks.count == 1 {
                        let interval = PoolRange(start: ranks[0].lower, count: ranks[0].upper)
                        return CompiledAttribute(name: place, onlyValue: CompiledAttribute.interval, values: interval)
                    }
                    let range = pools.intervals.appendRun(ranks)
                    return CompiledAttribute(name: place, onlyValue: CompiledAttribute.range, values: range)
                }
                let indexes = attribute.values.texts.compactMap { scales.attributeValues.index(of: $0.string) }
                let values = Set(indexes).sorted().map { UInt32($0) }
                return CompiledAttribute(
                    name: name,
                    onlyValue: attribute.values.isNot
                        ? CompiledAttribute.not : values.count == 1 ? values[0] : CompiledAttribute.several,
                    values: pools.values.appendRun(values)
                )
            }
            compiled.attributes = pools.attributes.appendRun(compiledAttributes)
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
        if rule.link == Rule.storeLink { flags.insert(.linksToStore) }
        guard rule.bundle == nil else { return flags }
        let texts = [rule.title, rule.text] + rule.texts.flatMap { [$0.title, $0.text] }
        if texts.contains(where: { $0.utf8.contains("{app}".utf8) }) { flags.insert(.namesApp) }
        return flags
    }

    /// Writes the rule's message in every language, its link, its hints and its lockout into the shared bytes.
    private mutating func prepareMessages(_ rule: Rule, _ compiled: inout CompiledRule) {
        pools.tails.append(
            MessageTail(
                link: prepare { bytes in
                    if let link = rule.link, link != Rule.storeLink { MessageBytes.append(link: link, to: &bytes) }
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
}

private func elements<Element>(_ list: [Element]?, _ column: String, _ row: String) throws(PolicyError) -> [Element]? {
    guard let list else { return nil }
    guard !list.isEmpty else {
        throw PolicyError(row: row, reason: "has an empty list of \(column); no condition is null")
    }
    return list
}

extension [UInt16] {
    /// The letters of regions, each once, sorted; `nil` for no condition.
    init?(regions codes: [String]?, _ row: String) throws(PolicyError) {
        guard let codes = try elements(codes, "regions", row) else { return nil }
        var letters: Set<UInt16> = []
        for code in codes {
            guard let region = Region(code: code) else {
                throw PolicyError(row: row, reason: "has the region \"\(code)\", which is no assigned country code")
            }
            letters.insert(region.letters)
        }
        self = letters.sorted()
    }
}

struct RuleRanges {
    let versions: [VersionInterval]
    let builds: [VersionInterval]
    let os: [VersionInterval]
    /// Those of its attributes, by name; none of one without a range.
    let attributes: [[VersionInterval]]
    let target: VersionKey?
    /// How the rule writes the version where those end that it reaches; `nil` where it writes none.
    let end: String?

    init(_ rule: Rule) throws(PolicyError) {
        versions = try Self.intervals(rule.versions, "versions", rule)
        builds = try Self.intervals(rule.builds, "builds", rule)
        os = try Self.intervals(rule.os, "os", rule)
        attributes = try (rule.attributes ?? []).byName.map { attribute throws(PolicyError) in
            try Self.intervals(attribute.values.range?.string, "attributes.\(attribute.name)", rule)
        }
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

    var versionBounds: [VersionKey] { Self.bounds(versions) + (target.map { [$0] } ?? []) }

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
