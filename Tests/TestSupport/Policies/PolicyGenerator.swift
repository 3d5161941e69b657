package import TestRandom
package import UpdatePolicy

/// The writer of random policies.
package struct PolicyGenerator {
    /// A policy and what its clients are to know, so that they come near it.
    package struct Scene: Sendable {
        package let policy: Policy
        package let timeZone: String
        package let origin: Timestamp
        package let installs: [String]
    }

    package var random: SeededGenerator
    private var feeds: SeededGenerator
    private var hints: SeededGenerator
    private var holds: SeededGenerator
    private var conditions: SeededGenerator
    private let style: PolicyStyle
    private var origin = TestPolicy.noon
    private var installs: [String] = []
    private var bundles: [String]
    private var latest = "1.2"

    private var pools: PolicyPools { style.pools }
    private var chances: PolicyChances { style.chances }

    package init(_ style: PolicyStyle, _ random: SeededGenerator) {
        self.style = style
        self.random = random
        feeds = random
        hints = random
        holds = random
        conditions = random
        bundles = style.pools.bundles
    }

    package init(_ style: PolicyStyle = .lifelike, seed: UInt64) {
        self.init(style, SeededGenerator(seed: seed))
    }

    /// The next policy, and what its clients are to know.
    package mutating func scene() -> Scene {
        let place = random.pick(pools.places)
        origin = place.time
        installs =
            (0..<12).map { _ in "install-\(Int.random(in: 0..<100_000, using: &random))" } + ["\u{E9}", "e\u{301}"]
        let policy = policy()
        let timeZone = random.chance(50) ? place.timeZone : random.pick(pools.timeZones)
        return Scene(policy: policy, timeZone: timeZone, origin: origin, installs: installs)
    }

    /// A seed for the checks of a scene.
    package mutating func seedForChecks() -> UInt64 {
        random.next()
    }

    /// The next policy, with so many rules; nil: a few.
    package mutating func policy(rules count: Int? = nil) -> Policy {
        var policy = Policy(revision: 0, token: "")
        bundles =
            style.isLifelike
            ? Array(pools.bundles.prefix(random.chance(5) ? 1 : 2)) : random.some(pools.bundles, upTo: 4)
        policy.apps = bundles.map { app($0) }
        policy.releases = (0..<Int.random(in: 0...9, using: &random)).map { release(Int64($0 + 1)) }
        if !style.isLifelike { policy.releases = Self.different(policy.releases) }
        latest = latest(policy.releases)
        policy.rules = keys(count).map { rule($0) }
        addFeeds(to: &policy)
        addHints(to: &policy)
        addHolds(to: &policy)
        addConditions(to: &policy)
        return policy
    }

    /// Adds what feeds alone read. It is drawn apart, so that the rest of a policy is the same with it and without.
    private mutating func addFeeds(to policy: inout Policy) {
        for index in policy.apps.indices where feeds.chance(chances.feeds) {
            // The index keeps the apps of a policy apart; in the next policy another app may have the number.
            policy.apps[index].storeID = feeds.pick(pools.storeIDs) + Int64(index)
            policy.apps[index].seller = feeds.pick(pools.appNames, chance: 50)
            policy.apps[index].feedTemplates = ["a.json", "no", "1.10"].filter { _ in feeds.chance(40) }.map { name in
                FeedTemplate(
                    name: name, contentType: feeds.pick(FeedTemplate.contentTypes), body: feeds.pick(pools.texts)
                )
            }
        }
        for index in policy.releases.indices where feeds.chance(chances.feeds) {
            let languages = feeds.some([ReleaseNote.anyLanguage, "de", "zh-Hant", "nb"], upTo: 3)
            policy.releases[index].notes = languages.map { ReleaseNote(language: $0, text: feeds.pick(pools.texts)) }
        }
    }

    /// Adds how often messages are shown, drawn apart too.
    private mutating func addHints(to policy: inout Policy) {
        for index in policy.rules.indices {
            policy.rules[index].remind = hints.pick(pools.reminds, chance: chances.hints)
            policy.rules[index].shows = hints.pick(pools.shows, chance: chances.hints)
            policy.rules[index].skippable = hints.chance(chances.hints)
        }
    }

    /// Holds ramps, drawn apart too: often just when a step begins, or just before it.
    private mutating func addHolds(to policy: inout Policy) {
        for index in policy.rules.indices where !policy.rules[index].steps.isEmpty && holds.chance(chances.held) {
            let hours = holds.pick(pools.hours) * 3_600_000_000
            let time = origin.advanced(byMicroseconds: hours + holds.pick(pools.microseconds))
            policy.rules[index].heldAt = holds.pick(policy.rules[index].steps.map(\.at) + [time])
        }
    }

    /// Makes a quarter of the conditions on attributes exceptions, and a quarter ranges, drawn apart too.
    private mutating func addConditions(to policy: inout Policy) {
        for index in policy.rules.indices {
            policy.rules[index].attributes = policy.rules[index].attributes?.map { attribute in
                switch Int.random(in: 0..<4, using: &conditions) {
                case 0: AttributeCondition(name: attribute.name, .not(attribute.values.texts))
                case 1:
                    AttributeCondition(name: attribute.name, .range(UTF8Text(conditions.pick(pools.attributeRanges))))
                default: attribute
                }
            }
        }
    }

    /// A moment near the others.
    package mutating func time() -> Timestamp {
        let microseconds = random.pick(pools.hours) * 3_600_000_000
        return origin.advanced(byMicroseconds: microseconds + random.pick(pools.microseconds))
    }

    private mutating func keys(_ count: Int?) -> [String] {
        if let count { return (0..<count).map { "r\($0)" }.shuffled(using: &random) }
        return Array(pools.keys.shuffled(using: &random).prefix(Int.random(in: 2...8, using: &random)))
    }

    /// Whether so many of a hundred are wrong, where some are.
    private mutating func isWrong(_ percent: Int) -> Bool {
        style.isLifelike && !random.chance(100 - percent)
    }

    private mutating func app(_ bundle: String) -> App {
        App(bundle: bundle, name: random.pick(pools.appNames, chance: chances.appName)) {
            $0.paused = random.chance(chances.paused)
            $0.note = note()
            $0.storeLinks = pools.platforms.filter { _ in random.chance(chances.storeLink) }.map {
                StoreLink(platform: $0, link: random.pick(pools.storeLinks))
            }
        }
    }

    private mutating func release(_ id: Int64) -> Release {
        let liveAt = random.chance(chances.liveAt) ? time() : nil
        let withdrawnAt = random.chance(chances.withdrawnAt) ? time() : nil
        return Release(
            id: id, bundle: style.isLifelike ? pools.bundles[random.chance(92) ? 0 : 1] : random.pick(bundles),
            platform: random.chance(chances.ios) ? "ios" : random.pick(pools.platformsOfRules),
            version: style.isLifelike && random.chance(1) ? random.pick(pools.unreadableVersions) : version()
        ) {
            $0.build = random.pick(pools.builds, chance: chances.build)
            $0.minOS = random.pick(pools.osVersions, chance: chances.minOS)
            $0.regions = regions(chance: chances.releaseRegions)
            $0.liveAt = liveAt
            $0.staged = random.chance(chances.staged)
            $0.withdrawnAt = withdrawnAt.map { max($0, liveAt ?? $0) }
            $0.note = note()
        }
    }

    /// The releases without those that differ from an earlier one in their notes alone, which the database refuses.
    private static func different(_ releases: [Release]) -> [Release] {
        releases.reduce(into: []) { different, release in
            let isThere = different.contains { other in
                var other = other
                other.id = release.id
                other.note = release.note
                other.notes = release.notes
                return other == release
            }
            if !isThere { different.append(release) }
        }
    }

    /// A rule with a key.
    package mutating func rule(_ key: String) -> Rule {
        let bundle = random.chance(chances.bundle) ? bundleOfRule() : nil
        let target = bundle != nil && random.chance(chances.target) ? version() : nil
        let steps = steps(key)
        var rule = Rule(key: key, title: text(target), text: text(target)) {
            $0.bundle = bundle
        }
        rule.enabled = random.chance(chances.enabled)
        rule.position = random.pick(pools.positions)
        rule.versions = range(pools.ranges, chance: chances.versions)
        rule.builds = range(pools.buildRanges, chance: chances.builds)
        rule.os = range(pools.osRanges, chance: chances.os)
        rule.platforms = random.some(pools.platformsOfRules, upTo: 4, chance: chances.platforms)
        rule.regions = regions(chance: chances.regions)
        rule.languages = random.some(
            isWrong(4) ? pools.wrongLanguages : pools.languageRanges, upTo: 4, chance: chances.languages
        )
        rule.attributes = attributes()
        rule.target = target
        let soak = random.pick(pools.soaks)
        rule.rollout = random.chance(chances.fullRollout) ? .all : rollout(key)
        rule.startsAt = random.chance(chances.startsAt) ? time() : nil
        rule.endsAt = random.chance(chances.endsAt) ? time() : nil
        rule.link = random.pick(isWrong(3) ? pools.wrongLinks : pools.links, chance: chances.link)
        rule.lockout = random.chance(chances.lockout)
        rule.lockoutWithoutUpdate = random.chance(chances.lockoutWithoutUpdate) && rule.lockout
        rule.soak = target != nil || rule.lockout ? soak : nil
        rule.final = random.chance(chances.final)
        rule.texts = (random.some(pools.languages, upTo: 4, chance: chances.texts) ?? []).map { language in
            RuleText(language: language, title: style.isLifelike ? "\(language): {app}" : text(nil), text: text(target))
        }
        if rule.endsAt == nil { Self.takeDateOut(&rule) }
        rule.steps = steps
        if !steps.isEmpty { rule.rollout = .zero }
        rule.note = note()
        guard style.isLifelike else {
            if let start = rule.startsAt, let end = rule.endsAt, end <= start {
                rule.endsAt = start.advanced(byMicroseconds: 3_600_000_000)
            }
            return rule
        }
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<20: makeSecurityLockout(&rule)
        case 20..<35: makeEverydayRule(&rule)
        default: break
        }
        return rule
    }

    /// The greatest version of some releases that is on iOS, where most clients are.
    private func latest(_ releases: [Release]) -> String {
        releases.filter { $0.platform == "ios" && $0.bundle == pools.bundles[0] }
            .compactMap { AppVersion($0.version) }
            .max { $0 < $1 }?.text ?? "1.2"
    }

    /// Makes a rule ask everybody below the latest release to get it, when it has been live for some days.
    private mutating func makeEverydayRule(_ rule: inout Rule) {
        rule = Rule(key: rule.key, title: rule.title, text: rule.text) {
            $0.bundle = pools.bundles[0]
            $0.position = rule.position
            $0.target = latest
            $0.soak = random.pick(pools.soaks)
            $0.link = rule.link
            $0.lockout = rule.lockout
        }
    }

    /// Makes a rule a lockout of some versions, or of some builds of a version, with few other conditions.
    ///
    /// These are the rules whose ways out differ: a later version, a newer build, or what is locked out itself.
    private mutating func makeSecurityLockout(_ rule: inout Rule) {
        if random.chance(50) {
            rule.versions = random.chance(70) ? latest : random.pick(pools.usualVersions)
            rule.builds = random.pick(pools.buildRanges)
        } else {
            rule.versions = random.pick(["1.1 || 1.2", "<1.3", "1.1 - 1.2.x", "1.x", "<=1.2", "* "])
            rule.builds = nil
        }
        rule.os = nil
        rule.platforms = nil
        rule.regions = nil
        rule.languages = nil
        rule.attributes = nil
        rule.target = nil
        rule.title = "Broken"
        rule.text = "A build of {app} is broken."
        rule.texts = []
        rule.rollout = .all
        rule.steps = []
        rule.lockout = true
        rule.lockoutWithoutUpdate = false
    }

    private mutating func bundleOfRule() -> String {
        random.pick(style.isLifelike ? [pools.bundles[0], pools.bundles[0], "COM.EXAMPLE.OTHER"] : bundles)
    }

    /// A version of an app, mostly one of few.
    private mutating func version() -> String {
        random.pick(random.chance(chances.usualVersion) ? pools.usualVersions : pools.versions)
    }

    private mutating func steps(_ key: String) -> [RolloutStep] {
        guard random.chance(chances.steps) else { return [] }
        let count = Int.random(in: 1...3, using: &random)
        let times = Set((0..<count).map { _ in time() }).sorted()
        var rollouts = times.map { _ in rollout(key) }
        if !isWrong(10) { rollouts.sort() }
        return zip(times, rollouts).map { RolloutStep(at: $0, rollout: $1) }
    }

    /// A share, often one that just lets an install in, or just not.
    private mutating func rollout(_ key: String) -> Percentage {
        guard !installs.isEmpty, random.chance(60) else {
            return Percentage(hundredths: random.pick(pools.rollouts)) ?? .all
        }
        let bucket = Bucket(key: key, install: UTF8Text(random.pick(installs))).number
        return Percentage(hundredths: bucket + Int.random(in: 0...1, using: &random)) ?? .all
    }

    private mutating func text(_ target: String?) -> String {
        let text = random.pick(pools.texts)
        guard target == nil, !isWrong(1) else { return text }
        return text.split(separator: "{target}", omittingEmptySubsequences: false).joined(separator: "{goal}")
    }

    private static func takeDateOut(_ rule: inout Rule) {
        rule.title.replace("{date}", with: "{day}")
        rule.text.replace("{date}", with: "{day}")
        rule.texts = rule.texts.map {
            RuleText(
                language: $0.language, title: $0.title.replacing("{date}", with: "{day}"),
                text: $0.text.replacing("{date}", with: "{day}")
            )
        }
    }

    private mutating func range(_ pool: [String], chance percent: Int) -> String? {
        guard random.chance(percent) else { return nil }
        guard style.isLifelike else { return random.pick(pool) }
        if random.chance(2) { return random.pick(pools.wrongRanges) }
        if pool != pools.ranges || random.chance(70) { return random.pick(pool) }
        return (0..<Int.random(in: 1...3, using: &random)).map { _ in
            random.pick(["<", "<=", ">", ">=", "=", "", "~", "^"])
                + random.pick(["1", "1.1", "1.2", "1.2-beta", "1.3", "2"])
        }.joined(separator: random.chance(50) ? " " : " || ")
    }

    private mutating func regions(chance percent: Int) -> [String]? {
        random.some(isWrong(3) ? pools.wrongRegions : pools.regions, upTo: 3, chance: percent)
    }

    private mutating func attributes() -> [AttributeCondition]? {
        random.some(pools.attributeNames, upTo: style.mostAttributes, chance: chances.attributes)?.map { name in
            AttributeCondition(name: name, values: random.some(pools.attributeValues, upTo: 4, chance: 100) ?? [])
        }
    }

    private mutating func note() -> String? {
        pools.notes.isEmpty ? nil : random.pick(pools.notes, chance: chances.note)
    }
}
