// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import TestRandom
import UpdatePolicy

/// The writer of random policies that the database accepts, full of texts that YAML readers misread.
struct PolicyGenerator {
    private var random: SeededGenerator

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
    }

    /// Texts that are something else to some reader, or hard to write.
    static let awkwardTexts = [
        "NO", "no", "on", "off", "Yes", "y", "true", "False", "null", "Null", "~", "1.10", "1e3", "0x1F", "0o17",
        "1_000",
        "12:30:45", "2026-03-01", "2026-03-01T12:00:00Z", ".inf", "-.INF", ".nan", "-", "--- a", "...", "?", "? a", ":",
        "a: b", "a:", ": a", "a #b", "#a", "&a", "*a", "!a", "!!str a", "|", ">", "|-\na", "%YAML", "@a", "`a`", "'",
        "''",
        "\"", "\\", "\\n", "[a, b]", "{a: b}", "a, b", "a]", "<<", "=", " a", "a ", "\u{A0}", "a\nb", "a\n\nb",
        "a\nb\n",
        "a\n", "\na", "\n\na", " a\nb", "a\n b", "a \nb", "a\n\n", "- a\n- b", "key: |\n  text", "# a\nb", "a\n# b",
        "\u{E9}",
        "e\u{301}", "\u{1F600}", "\u{FFFD}", "\u{E000}", "\u{10FFFD}", "\u{3000}a", "a\u{200B}", "\u{2067}abc\u{2069}",
        "\u{130}", "Norge", "{app} \u{2026}", "{app}: please update",
    ]
    /// What only a note may hold.
    static let awkwardNotes = [
        "", " ", "\t", "a\tb", "\u{2028}", "\u{2029}x", "\u{FEFF}", "\u{FFFE}", "\u{10FFFF}", "\u{202E}abc", "\u{200B}",
    ]

    private static let bundles = [
        "com.example.doto", "com.example.Other", "NO", "1.10", "null", "*", "a:b", "#",
    ]
    private static let versions = ["1.0", "1.10", "1.2", "1.2-beta", "1.2.1", "2", "v3", "4 (45)", "0", "1e", "010"]
    private static let ranges = [
        "<1.2", ">=1.1 <1.1.5", "*", "~1.2", "^1", "1.x", "1.10", "=1", ">1", "1.2 - 1.4", "1 || 2",
    ]
    private static let links = [
        "https://example.com/?a=b&c=#x", "store", "market://details?id=a", "https://e/%20:[1]", "http://[::1]/{a}'\"",
    ]
    private static let languages = ["no", "de", "zh-Hant", "EN-us", "nb", "yo"]

    /// The next policy.
    mutating func policy() -> Policy {
        var policy = Policy(revision: 0, token: "")
        let bundles = random.some(Self.bundles, upTo: 4)
        for bundle in bundles { appendApp(bundle, to: &policy) }
        let keys = ["no", "1.10", "on", "null", "a", "b-2", "0x1", "update-1.2", "y", "z_"]
        for key in random.some(keys, upTo: 6) { policy.rules.append(rule(key, bundles)) }
        return policy
    }

    private mutating func appendApp(_ bundle: String, to policy: inout Policy) {
        var app = App(
            bundle: bundle,
            name: maybe { $0.title() },
            paused: random.chance(20),
            note: maybe { $0.note() }
        )
        for platform in random.some(["ios", "android", "no", "web os", "1.0"], upTo: 3) where random.chance(60) {
            let link = random.pick(Self.links.filter { $0 != "store" })
            app.storeLinks.append(StoreLink(platform: platform, link: link))
        }
        policy.apps.append(app)
        for _ in 0..<Int.random(in: 0...6, using: &random) {
            let version = random.pick(Self.versions)
            let times = [timestamp(after: nil), timestamp(after: nil)].sorted()
            let release = Release(
                id: 0,
                bundle: bundle,
                platform: random.pick(["ios", "android"]),
                version: version,
                build: maybe { $0.random.pick(["1", "42", "1.10", "0.1"]) },
                minOS: maybe { $0.random.pick(["14", "15.10"]) },
                regions: maybe { $0.regions() },
                liveAt: maybe { _ in times[0] },
                staged: random.chance(30),
                withdrawnAt: maybe { _ in times[1] },
                note: maybe { $0.note() }
            )
            // The database refuses a row that differs from another one in its note alone.
            let isThere = policy.releases.contains { other in
                var other = other
                other.note = release.note
                return other == release
            }
            if !isThere { policy.releases.append(release) }
        }
    }

    private mutating func rule(_ key: String, _ bundles: [String]) -> Rule {
        var rule = Rule(key: key, title: "", text: "")
        rule.bundle = random.chance(70) ? random.pick(bundles) : nil
        rule.target = rule.bundle != nil && random.chance(40) ? random.pick(Self.versions) : nil
        rule.lockout = random.chance(40)
        // A lockout that needs no way out is accepted whatever the releases are.
        rule.lockoutWithoutUpdate = rule.lockout
        rule.startsAt =
            random.chance(30) ? Timestamp(secondsSince1970: Int64.random(in: 0...2_000_000_000, using: &random)) : nil
        let start = rule.startsAt
        rule.enabled = random.chance(50)
        rule.position = random.pick([0, 0, -1, 7, Int(Int32.max), Int(Int32.min)])
        rule.versions = maybe { $0.random.pick(Self.ranges) }
        rule.builds = maybe { $0.random.pick(Self.ranges) }
        rule.os = maybe { $0.random.pick(Self.ranges) }
        rule.platforms = maybe { $0.random.some(["ios", "android", "no", "1.0", "web os"], upTo: 3) }
        rule.regions = maybe { $0.regions() }
        rule.languages = maybe { $0.random.some(["no", "de", "*", "zh-Hant"], upTo: 3) }
        rule.attributes = maybe { $0.attributes() }
        let countsOnReleases = rule.target != nil || rule.lockout
        rule.soak = maybe { $0.soak() }.flatMap { countsOnReleases ? $0 : nil }
        rule.rollout = percentage()
        rule.endsAt = maybe { $0.timestamp(after: start) }
        rule.title = title()
        rule.text = title()
        rule.link = maybe { $0.random.pick(Self.links) }
        rule.final = random.chance(20)
        rule.note = maybe { $0.note() }
        if random.chance(50) {
            rule.texts = random.some(Self.languages, upTo: 3).map { language in
                RuleText(language: language, title: title(), text: title())
            }
        }
        if random.chance(40) {
            let times = Set((0..<Int.random(in: 1...3, using: &random)).map { _ in timestamp(after: nil) }).sorted()
            let shares = times.map { _ in Int.random(in: 0...10_000, using: &random) }.sorted()
            rule.steps = zip(times, shares).map { time, share in
                RolloutStep(at: time, rollout: Percentage(hundredths: share) ?? .all)
            }
        }
        return rule
    }

    private mutating func maybe<Value>(_ value: (inout PolicyGenerator) -> Value) -> Value? {
        random.chance(40) ? value(&self) : nil
    }

    private mutating func awkward() -> String {
        var text = random.pick(Self.awkwardTexts)
        while random.chance(30) { text += random.pick(["", " ", "\n", ": ", ", "]) + random.pick(Self.awkwardTexts) }
        return text
    }

    /// A text that people can see, as the database wants it.
    private mutating func title() -> String {
        let text = awkward()
        return text.allSatisfy { " \n\u{A0}".contains($0) } ? "x\(text)" : text
    }

    private mutating func note() -> String {
        random.chance(40) ? random.pick(Self.awkwardNotes) : awkward()
    }

    private mutating func regions() -> [String] {
        random.some(["NO", "US", "JP", "DE", "XK"], upTo: 4)
    }

    private mutating func attributes() -> [AttributeCondition] {
        let plain = Self.awkwardTexts.filter { !$0.hasPrefix(" ") && !$0.hasSuffix(" ") && !$0.contains("\n") }
        let names = random.some(plain + ["channel", String(repeating: "long ", count: 25) + "."], upTo: 4)
        return names.map { AttributeCondition(name: $0, values: random.some(Self.awkwardTexts, upTo: 3)) }
    }

    private mutating func soak() -> SoakTime {
        SoakTime(
            days: random.pick([0, 1, 2, 30]),
            microseconds: random.pick([0, 1, 3_600_000_000, 129_600_500_000, 5_400_000_000, 86_400_000_000])
        )
    }

    private mutating func percentage() -> Percentage {
        random.chance(50) ? .all : Percentage(hundredths: Int.random(in: 0...10_000, using: &random)) ?? .all
    }

    private mutating func timestamp(after start: Timestamp?) -> Timestamp {
        if let start { return start.advanced(byMicroseconds: Int64.random(in: 1...9_000_000_000_000, using: &random)) }
        let seconds = Int64.random(in: -62_135_596_800...253_402_300_799, using: &random)
        return Timestamp(microsecondsSince1970: seconds * 1_000_000 + random.pick([0, 0, 1, 250_000, 999_999]))
    }
}
