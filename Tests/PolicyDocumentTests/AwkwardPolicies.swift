import Foundation
import TestPolicies
import TestRandom
import UpdatePolicy

/// Policies that the database takes, full of texts that YAML readers misread.
enum AwkwardPolicies {
    static let style: PolicyStyle = {
        var random = SeededGenerator(seed: 1)
        var style = PolicyStyle()
        style.isLifelike = false
        style.mostAttributes = 4
        style.pools.bundles = ["com.example.doto", "com.example.Other", "NO", "1.10", "null", "*", "a:b", "#"]
        style.pools.platforms = ["ios", "android", "no", "web os", "1.0"]
        style.pools.platformsOfRules = style.pools.platforms
        style.pools.versions = ["1.0", "1.10", "1.2", "1.2-beta", "1.2.1", "2", "v3", "4 (45)", "0", "1e", "010"]
        style.pools.builds = ["1", "42", "1.10", "0.1"]
        style.pools.osVersions = ["14", "15.10"]
        style.pools.ranges = [
            "<1.2", ">=1.1 <1.1.5", "*", "~1.2", "^1", "1.x", "1.10", "=1", ">1", "1.2 - 1.4", "1 || 2",
        ]
        style.pools.buildRanges = style.pools.ranges
        style.pools.osRanges = style.pools.ranges
        style.pools.regions = ["NO", "US", "JP", "DE", "XK"]
        style.pools.languages = ["de", "zh-Hant", "EN-us", "nb", "yo"]
        style.pools.languageRanges = ["nb", "de", "*", "zh-Hant"]
        // The database takes no value with blanks at its ends, and no name with a character that cannot be seen.
        let values = texts.filter { $0 == $0.trimmingCharacters(in: .whitespacesAndNewlines) }
        let names = values.filter { text in
            !text.contains("\n") && !text.unicodeScalars.contains { $0.properties.generalCategory == .format }
        }
        style.pools.attributeNames = names + ["channel", String(repeating: "long ", count: 25) + "."]
        style.pools.attributeValues = values
        style.pools.texts = titles(&random)
        style.pools.appNames = style.pools.texts.filter { $0 == $0.trimmingCharacters(in: .whitespacesAndNewlines) }
        style.pools.notes = notes + (0..<300).map { _ in text(&random) }
        style.pools.storeLinks = [
            "https://example.com/?a=b&c=#x", "market://details?id=a", "https://e/%20:[1]", "http://[::1]/(a)'!*",
        ]
        style.pools.links = style.pools.storeLinks + ["store"]
        style.pools.keys = ["no", "1.10", "on", "null", "a", "b-2", "0x1", "update-1.2", "y", "z_"]
        style.pools.positions = [0, 0, -1, 7, Int(Int32.max), Int(Int32.min)]
        style.pools.soaks = [0, 1, 2, 30].flatMap { days in
            [0, 1, 3_600_000_000, 129_600_500_000, 5_400_000_000, 86_400_000_000].map {
                DayTimeInterval(days: days, microseconds: $0)
            }
        }
        style.pools.reminds = [0, 1, 30].flatMap { days in
            [1_000_000, 3_600_000_000, 129_600_000_000, 86_400_000_000].map {
                DayTimeInterval(days: days, microseconds: $0)
            }
        }
        style.pools.rollouts = [0, 1, 10, 99, 100, 101, 1_234, 2_500, 3_725, 5_000, 9_090, 9_990, 9_999, 10_000]
        // From the first to the last year with four digits, about the noon of the tests.
        style.pools.hours = (0..<100).map { _ in Int64.random(in: -17_752_000...69_897_000, using: &random) }
        style.pools.microseconds = [0, 0, 1, 250_000, 999_999]
        // A lockout that needs no way out is taken whatever the releases are.
        style.chances.set([
            \.appName: 40, \.paused: 20, \.note: 40, \.ios: 50, \.usualVersion: 0, \.build: 40, \.releaseRegions: 40,
            \.liveAt: 40, \.staged: 30, \.withdrawnAt: 40, \.bundle: 70, \.target: 40, \.enabled: 50, \.versions: 40,
            \.builds: 40, \.os: 40, \.platforms: 40, \.regions: 40, \.languages: 40, \.attributes: 40,
            \.fullRollout: 50, \.startsAt: 30, \.endsAt: 40, \.link: 40, \.lockout: 40, \.lockoutWithoutUpdate: 100,
            \.final: 20, \.texts: 50, \.steps: 40, \.feeds: 60,
        ])
        return style
    }()

    /// Texts that people can see, as the database wants it.
    private static func titles(_ random: inout SeededGenerator) -> [String] {
        (texts + (0..<300).map { _ in text(&random) }).map { text in
            text.allSatisfy { " \n\u{A0}".contains($0) } ? "x\(text)" : text
        }
    }

    private static func text(_ random: inout SeededGenerator) -> String {
        var text = random.pick(texts)
        repeat {
            text += random.pick(["", " ", "\n", ": ", ", "]) + random.pick(texts)
        } while random.chance(30)
        return text
    }

    /// Texts that are something else to some reader, or hard to write.
    private static let texts = [
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
    private static let notes = [
        "", " ", "\t", "a\tb", "\u{2028}", "\u{2029}x", "\u{FEFF}", "\u{FFFE}", "\u{10FFFF}", "\u{202E}abc", "\u{200B}",
    ]
}
