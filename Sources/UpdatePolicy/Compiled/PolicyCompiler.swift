// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// The making of a compiled policy from plain rows.
struct PolicyCompiler {
    private(set) var policy: Policy
    private(set) var rules: [CompiledRule] = []
    private(set) var pools = RulePools()
    private(set) var apps: [CompiledApp] = []
    private(set) var appNumbers = NameTable()
    private(set) var platformNumbers = PlatformNumbers()
    private(set) var rulesForEveryApp: RuleGroup?

    private var appRows: [App?] = []
    private var bundles: [String] = []

    init(_ policy: Policy) throws(PolicyError) {
        self.policy = policy
        sortRules()
        try numberApps()
        try compileRules()
        let releases = try compileReleases()
        try compileApps(releases)
    }

    private mutating func sortRules() {
        let isSorted = zip(policy.rules, policy.rules.dropFirst()).allSatisfy { !Self.precedes($1, $0) }
        if !isSorted { policy.rules.sort(by: Self.precedes) }
    }

    private static func precedes(_ left: Rule, _ right: Rule) -> Bool {
        if left.position != right.position { return left.position < right.position }
        return UTF8Text(left.key) < UTF8Text(right.key)
    }

    private mutating func number(ofApp bundle: String) -> Int {
        let number = appNumbers.insert(bundle)
        if number == bundles.count {
            bundles.append(bundle)
            appRows.append(nil)
        }
        return number
    }

    private mutating func numberApps() throws(PolicyError) {
        for app in policy.apps {
            let number = number(ofApp: app.bundle)
            guard appRows[number] == nil else {
                throw PolicyError(row: "app \(app.bundle)", reason: "is there twice")
            }
            appRows[number] = app
        }
    }

    private mutating func compileApps(_ releases: [[ReleaseList]]) throws(PolicyError) {
        var rulesOfApps = [[UInt32]](repeating: [], count: bundles.count)
        var rulesOfEveryApp: [UInt32] = []
        for (number, rule) in rules.enumerated() {
            if rule.app < 0 {
                rulesOfEveryApp.append(UInt32(number))
            } else {
                rulesOfApps[Int(rule.app)].append(UInt32(number))
            }
        }
        rulesForEveryApp = try group(rulesOfEveryApp)
        apps.reserveCapacity(bundles.count)
        for number in bundles.indices {
            apps.append(
                CompiledApp(
                    bundle: bundles[number],
                    app: appRows[number],
                    links: links(of: appRows[number]),
                    releases: number < releases.count ? releases[number] : [],
                    rules: try group(rulesOfApps[number])
                )
            )
        }
    }

    private mutating func links(of app: App?) -> [CompiledApp.Link] {
        (app?.storeLinks ?? []).map { link in
            var bytes: [UInt8] = []
            MessageBytes.append(link: link.link, to: &bytes)
            return CompiledApp.Link(
                platform: platformNumbers.insert(link.platform),
                link: link.link,
                bytes: bytes
            )
        }
    }
}

extension PolicyCompiler {
    /// Ranks the conditions of the rules of one app, or of those for every app, and indexes the rules.
    private mutating func group(_ numbers: [UInt32]) throws(PolicyError) -> RuleGroup? {
        if numbers.isEmpty { return nil }
        var ranges: [RuleRanges] = []
        ranges.reserveCapacity(numbers.count)
        for number in numbers { ranges.append(try RuleRanges(policy.rules[Int(number)])) }

        let scales = RuleScales(
            versions: RankScale(ranges.flatMap { $0.versionBounds }),
            builds: RankScale(ranges.flatMap { RuleRanges.bounds($0.builds) }),
            os: RankScale(ranges.flatMap { RuleRanges.bounds($0.os) }),
            times: RankScale(
                numbers.flatMap { number in
                    [rules[Int(number)].startsAt, rules[Int(number)].endsAt].filter { $0 != .min && $0 != .max }
                }
            )
        )
        for (number, ranges) in zip(numbers, ranges) {
            let number = Int(number)
            rules[number].versions = pools.intervals.appendRun(ranges.versions.map(scales.versions.ranks))
            rules[number].builds = pools.intervals.appendRun(ranges.builds.map(scales.builds.ranks))
            rules[number].os = pools.intervals.appendRun(ranges.os.map(scales.os.ranks))
            if let target = ranges.target {
                rules[number].flags.insert(.hasTarget)
                rules[number].targetRank = scales.versions.rank(of: target)
                rules[number].target = UInt32(pools.targets.count)
                pools.targets.append(target)
            }
        }
        return RuleGroup(numbers, rules, pools, scales)
    }
}

extension PolicyCompiler {
    private mutating func compileRules() throws(PolicyError) {
        rules.reserveCapacity(policy.rules.count)
        pools.links.reserveCapacity(policy.rules.count)
        var keys = Set<UTF8Text>(minimumCapacity: policy.rules.count)
        for rule in policy.rules {
            guard keys.insert(UTF8Text(rule.key)).inserted else {
                throw PolicyError(row: "rule \(rule.key)", reason: "is there twice")
            }
            rules.append(try compile(rule))
        }
    }

    private mutating func compile(_ rule: Rule) throws(PolicyError) -> CompiledRule {
        let row = "rule \(rule.key)"
        var compiled = CompiledRule()
        compiled.flags = flags(of: rule)
        compiled.rollout = UInt16(rule.rollout.hundredths)
        compiled.soak = rule.soakMicroseconds
        compiled.startsAt = rule.startsAt?.microsecondsSince1970 ?? .min
        compiled.endsAt = rule.endsAt?.microsecondsSince1970 ?? .max
        if let bundle = rule.bundle { compiled.app = Int32(number(ofApp: bundle)) }

        if let platforms = try Self.elements(rule.platforms, "platforms", row) {
            compiled.platforms = pools.platforms.appendRun(Self.distinct(platforms.map { platformNumbers.insert($0) }))
        }
        compiled.regions = try Self.append(rule.regions, to: &pools.regions, row)
        if let languages = try Self.elements(rule.languages, "languages", row) {
            compiled.languages = pools.languages.appendRun(languages.map { LanguageTag($0) })
        }
        if let attributes = try Self.elements(rule.attributes, "attributes", row) {
            compiled.attributes = pools.attributes.appendRun(
                attributes
                    .map { CompiledAttribute(name: UTF8Text($0.name), values: $0.values.map { UTF8Text($0) }) }
                    .sorted { $0.name < $1.name }
            )
        }
        compiled.steps = pools.steps.appendRun(
            rule.steps
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

    /// Writes the rule's message in every language, and its link, into the shared bytes.
    private mutating func prepareMessages(_ rule: Rule, _ compiled: inout CompiledRule) {
        let linkStart = pools.bytes.count
        if let link = rule.link, link != "store" { MessageBytes.append(link: link, to: &pools.bytes) }
        pools.links.append(linkStart..<pools.bytes.count)

        let name = compiled.app < 0 ? "{app}" : displayName(ofApp: Int(compiled.app))
        let start = pools.fragments.count
        prepare(rule, rule.title, rule.text, name, language: 0)
        for text in rule.texts {
            prepare(rule, text.title, text.text, name, language: UInt32(pools.languages.count))
            pools.languages.append(LanguageTag(text.language))
        }
        compiled.fragments = PoolRange(start: UInt32(start), count: UInt32(pools.fragments.count - start))
    }

    private mutating func prepare(_ rule: Rule, _ title: String, _ text: String, _ app: String, language: UInt32) {
        let start = pools.bytes.count
        let split = MessageBytes.append(
            id: rule.key,
            title: TextTemplate.filled(title, app: app, target: rule.target),
            text: TextTemplate.filled(text, app: app, target: rule.target),
            to: &pools.bytes
        )
        pools.fragments.append(Fragment(language: language, start: start, split: split, end: pools.bytes.count))
    }

    private func displayName(ofApp number: Int) -> String {
        appRows[number]?.name ?? bundles[number]
    }

    private static func distinct(_ platforms: [Int32]) -> [Int32] {
        Array(Set(platforms)).sorted()
    }

    /// The elements of a condition; `nil` for none.
    private static func elements<Element>(
        _ list: [Element]?,
        _ column: String,
        _ row: String
    ) throws(PolicyError) -> [Element]? {
        guard let list else { return nil }
        guard !list.isEmpty else {
            throw PolicyError(row: row, reason: "has an empty list of \(column); no condition is null")
        }
        return list
    }

    private static func append(
        _ codes: [String]?,
        to regions: inout [UInt16],
        _ row: String
    ) throws(PolicyError) -> PoolRange {
        guard let codes = try elements(codes, "regions", row) else { return .empty }
        let start = regions.count
        for code in codes {
            guard let region = Region(code: code) else {
                throw PolicyError(row: row, reason: "has the region \"\(code)\", which is no assigned country code")
            }
            if !regions[start...].contains(region.letters) { regions.append(region.letters) }
        }
        return PoolRange(start: UInt32(start), count: UInt32(regions.count - start))
    }
}

extension PolicyCompiler {
    /// The lists of releases of each app.
    private mutating func compileReleases() throws(PolicyError) -> [[ReleaseList]] {
        var rows: [Int: [Int32: [Int]]] = [:]
        for (row, release) in policy.releases.enumerated() {
            rows[number(ofApp: release.bundle), default: [:]][
                platformNumbers.insert(release.platform),
                default: []
            ].append(row)
        }
        var lists = [[ReleaseList]](repeating: [], count: bundles.count)
        for (app, platforms) in rows {
            for (platform, rows) in platforms.sorted(by: { $0.key < $1.key }) {
                lists[app].append(try list(rows, onPlatform: platform))
            }
        }
        return lists
    }

    private func list(_ rows: [Int], onPlatform platform: Int32) throws(PolicyError) -> ReleaseList {
        var releases: [CompiledRelease] = []
        var regions: [UInt16] = []
        for row in rows {
            if let release = try compile(policy.releases[row], row, &regions) { releases.append(release) }
        }
        releases.sort { left, right in
            if left.version != right.version { return right.version < left.version }
            if left.build != right.build {
                guard let leftBuild = left.build, let rightBuild = right.build else { return left.build != nil }
                return rightBuild < leftBuild
            }
            return policy.releases[left.row].id < policy.releases[right.row].id
        }
        return ReleaseList(platform: platform, releases: releases, regions: regions)
    }

    /// Compiles a release; `nil` where nobody can ever get it.
    private func compile(
        _ release: Release,
        _ row: Int,
        _ regions: inout [UInt16]
    ) throws(PolicyError) -> CompiledRelease? {
        let name = "release \(release.id)"
        guard let version = AppVersion(release.version) else {
            throw PolicyError(row: name, reason: "has the version \"\(release.version)\", which cannot be read")
        }
        let build = try Self.key(release.build, "build", name)
        let minOS = try Self.key(release.minOS, "min_os", name)
        let run = try Self.append(release.regions, to: &regions, name)
        guard let liveAt = release.liveAt, !release.staged else { return nil }
        return CompiledRelease(
            version: version.key,
            build: build,
            minOS: minOS,
            regions: run,
            liveAt: liveAt.microsecondsSince1970,
            withdrawnAt: release.withdrawnAt?.microsecondsSince1970 ?? .max,
            row: row
        )
    }

    private static func key(_ text: String?, _ column: String, _ row: String) throws(PolicyError) -> VersionKey? {
        guard let text else { return nil }
        guard let version = AppVersion(text) else {
            throw PolicyError(row: row, reason: "has the \(column) \"\(text)\", which cannot be read")
        }
        return version.key
    }
}
