// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import TestRandom
import UpdatePolicy

/// The writer of random policies, nearly all of whose rows the database accepts.
struct PolicyGenerator {
    /// A policy and what its clients are to know, so that they come near it.
    struct Scene: Sendable {
        let policy: Policy
        let timeZone: String
        let origin: Timestamp
        let installs: [String]
    }

    private var random: SeededGenerator
    private var origin = SemanticCase.noon
    private var installs: [String] = []
    private var latest = "1.2"

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
    }

    /// The next policy.
    mutating func scene() -> Scene {
        let place = random.pick(Pools.places)
        origin = place.time
        installs =
            (0..<12).map { _ in "install-\(Int.random(in: 0..<100_000, using: &random))" } + ["\u{E9}", "e\u{301}"]
        var policy = Policy(revision: 0, token: "")
        policy.apps = Pools.bundles.prefix(random.chance(5) ? 1 : 2).map { app($0) }
        policy.releases = (0..<Int.random(in: 0...9, using: &random)).map { release(Int64($0 + 1)) }
        latest = Self.latest(policy.releases)
        policy.rules = keys().map { rule($0) }
        let timeZone = random.chance(50) ? place.timeZone : random.pick(Pools.timeZones)
        return Scene(policy: policy, timeZone: timeZone, origin: origin, installs: installs)
    }

    /// A seed for the checks of a scene.
    mutating func seedForChecks() -> UInt64 {
        random.next()
    }

    private mutating func keys() -> [String] {
        let keys = ["a", "b", "k.2", "k-2", "k_2", "k2", "rule-1", "rule-10", "0", "z"]
        return Array(keys.shuffled(using: &random).prefix(Int.random(in: 2...8, using: &random)))
    }

    private mutating func app(_ bundle: String) -> App {
        App(
            bundle: bundle,
            name: random.pick(Pools.appNames, chance: 80),
            paused: random.chance(3),
            storeLinks: Pools.platforms.filter { _ in random.chance(50) }.map {
                StoreLink(platform: $0, link: random.pick(Pools.storeLinks))
            }
        )
    }

    private mutating func release(_ id: Int64) -> Release {
        let liveAt = random.chance(92) ? time() : nil
        let withdrawnAt = random.chance(12) ? time() : nil
        return Release(
            id: id,
            bundle: random.chance(92) ? Pools.bundles[0] : Pools.bundles[1],
            platform: random.chance(85) ? "ios" : random.pick(Pools.platformsOfRules),
            version: random.chance(1) ? random.pick(Pools.unreadableVersions) : version(),
            build: random.pick(Pools.builds, chance: 60),
            minOS: random.pick(Pools.osVersions, chance: 40),
            regions: regions(chance: 50),
            liveAt: liveAt,
            staged: random.chance(12),
            withdrawnAt: withdrawnAt.map { max($0, liveAt ?? $0) }
        )
    }

    private mutating func rule(_ key: String) -> Rule {
        let bundle = random.chance(80) ? random.pick([Pools.bundles[0], Pools.bundles[0], "COM.EXAMPLE.OTHER"]) : nil
        let target = bundle != nil && random.chance(50) ? version() : nil
        let steps = steps(key)
        var rule = Rule(key: key, bundle: bundle, title: text(target), text: text(target))
        rule.enabled = random.chance(88)
        rule.position = random.pick([0, 0, 0, -1, 1])
        rule.versions = range(Pools.ranges, chance: 30)
        rule.builds = range(Pools.buildRanges, chance: 15)
        rule.os = range(Pools.osRanges, chance: 8)
        rule.platforms = random.some(Pools.platformsOfRules, upTo: 4, chance: 12)
        rule.regions = regions(chance: 10)
        rule.languages = random.some(
            random.chance(96) ? Pools.languageRanges : Pools.wrongLanguages,
            upTo: 4,
            chance: 8
        )
        rule.attributes = attributes()
        rule.target = target
        let soak = random.pick(Pools.soaks)
        rule.rollout = random.chance(65) ? .all : rollout(key)
        rule.startsAt = random.chance(10) ? time() : nil
        rule.endsAt = random.chance(10) ? time() : nil
        rule.link = random.pick(random.chance(97) ? Pools.links : Pools.wrongLinks, chance: 45)
        rule.lockout = random.chance(45)
        rule.lockoutWithoutUpdate = random.chance(15) && rule.lockout
        rule.soak = target != nil || rule.lockout ? SoakTime(microseconds: soak) : nil
        rule.final = random.chance(15)
        rule.texts = (random.some(Pools.languages, upTo: 4, chance: 45) ?? []).map { language in
            RuleText(language: language, title: "\(language): {app}", text: text(target))
        }
        rule.steps = steps
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<20: makeSecurityLockout(&rule)
        case 20..<35: makeEverydayRule(&rule)
        default: break
        }
        return rule
    }

    /// The greatest version of some releases that is on iOS, where most clients are.
    private static func latest(_ releases: [Release]) -> String {
        releases.filter { $0.platform == "ios" && $0.bundle == Pools.bundles[0] }
            .compactMap { AppVersion($0.version) }
            .max { $0 < $1 }?.text ?? "1.2"
    }

    /// Makes a rule ask everybody below the latest release to get it, when it has been live for some days.
    private mutating func makeEverydayRule(_ rule: inout Rule) {
        rule = Rule(
            key: rule.key,
            bundle: Pools.bundles[0],
            position: rule.position,
            target: latest,
            soak: SoakTime(microseconds: random.pick(Pools.soaks)),
            title: rule.title,
            text: rule.text,
            link: rule.link,
            lockout: rule.lockout
        )
    }

    /// Makes a rule a lockout of some versions, or of some builds of a version, with few other conditions.
    ///
    /// These are the rules whose ways out differ: a later version, a newer build, or what is locked out itself.
    private mutating func makeSecurityLockout(_ rule: inout Rule) {
        if random.chance(50) {
            rule.versions = random.chance(70) ? latest : random.pick(Pools.usualVersions)
            rule.builds = random.pick(Pools.buildRanges)
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

    /// A version of an app, mostly one of few.
    private mutating func version() -> String {
        random.pick(random.chance(70) ? Pools.usualVersions : Pools.versions)
    }

    private mutating func steps(_ key: String) -> [RolloutStep] {
        guard random.chance(25) else { return [] }
        let count = Int.random(in: 1...3, using: &random)
        let times = Set((0..<count).map { _ in time() }).sorted()
        var rollouts = times.map { _ in rollout(key) }
        if random.chance(90) { rollouts.sort() }
        return zip(times, rollouts).map { RolloutStep(at: $0, rollout: $1) }
    }

    /// A share, often one that just lets an install in, or just not.
    private mutating func rollout(_ key: String) -> Percentage {
        guard random.chance(60) else { return Percentage(hundredths: random.pick(Pools.rollouts)) ?? .all }
        let bucket = Bucket(key: key, install: UTF8Text(random.pick(installs))).number
        return Percentage(hundredths: bucket + Int.random(in: 0...1, using: &random)) ?? .all
    }

    private mutating func text(_ target: String?) -> String {
        let text = random.pick(Pools.texts)
        guard target == nil, random.chance(99) else { return text }
        return text.split(separator: "{target}", omittingEmptySubsequences: false).joined(separator: "{goal}")
    }

    private mutating func range(_ pool: [String], chance percent: Int) -> String? {
        guard random.chance(percent) else { return nil }
        if random.chance(2) { return random.pick(Pools.wrongRanges) }
        if pool != Pools.ranges || random.chance(70) { return random.pick(pool) }
        return (0..<Int.random(in: 1...3, using: &random)).map { _ in
            random.pick(["<", "<=", ">", ">=", "=", "", "~", "^"])
                + random.pick(["1", "1.1", "1.2", "1.2-beta", "1.3", "2"])
        }.joined(separator: random.chance(50) ? " " : " || ")
    }

    private mutating func regions(chance percent: Int) -> [String]? {
        random.some(random.chance(97) ? Pools.regions : Pools.wrongRegions, upTo: 3, chance: percent)
    }

    private mutating func attributes() -> [AttributeCondition]? {
        random.some(Pools.attributeNames, upTo: 2, chance: 8)?.map { name in
            AttributeCondition(name: name, values: random.some(Pools.attributeValues, upTo: 4, chance: 100) ?? [])
        }
    }

    private mutating func time() -> Timestamp {
        let microseconds = random.pick(Pools.hours) * 3_600_000_000
        return origin.advanced(byMicroseconds: microseconds + random.pick([0, 0, 0, 0, 500_000, 1]))
    }
}
