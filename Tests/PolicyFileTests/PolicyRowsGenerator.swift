// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import PolicyStore
import TestRandom
import UpdatePolicy

/// The writer of random policies that the database accepts, full of texts that YAML readers misread.
struct PolicyRowsGenerator {
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
    mutating func rows() -> PolicyRows {
        var rows = PolicyRows()
        let bundles = random.some(Self.bundles, upTo: 4)
        for bundle in bundles { appendApp(bundle, to: &rows) }
        let keys = ["no", "1.10", "on", "null", "a", "b-2", "0x1", "update-1.2", "y", "z_"]
        for key in random.some(keys, upTo: 6) { appendRule(key, bundles, to: &rows) }
        return rows
    }

    private mutating func appendApp(_ bundle: String, to rows: inout PolicyRows) {
        let bundle = Self.text(bundle)
        rows.append(
            PolicyRow(
                .apps,
                values: [bundle, maybe { $0.title() }, .boolean(random.chance(20)), maybe { $0.note() }]
            )
        )
        for platform in random.some(["ios", "android", "no", "web os", "1.0"], upTo: 3) where random.chance(60) {
            rows.append(
                PolicyRow(
                    .storeLinks,
                    values: [bundle, Self.text(platform), Self.text(random.pick(Self.links.filter { $0 != "store" }))]
                )
            )
        }
        for _ in 0..<Int.random(in: 0...6, using: &random) {
            let version = random.pick(Self.versions)
            let times = [timestamp(after: nil), timestamp(after: nil)].sorted()
            let release = PolicyRow(
                .releases,
                values: [
                    bundle, Self.text(version), Self.text(random.pick(["ios", "android"])),
                    maybe { Self.text($0.random.pick(["1", "42", "1.10", "0.1"])) },
                    maybe { Self.text($0.random.pick(["14", "15.10"])) }, maybe { $0.regions() },
                    maybe { _ in .time(times[0]) }, .boolean(random.chance(30)),
                    maybe { _ in .time(times[1]) }, maybe { $0.note() },
                ]
            )
            // The database refuses a row that differs from another one in its note alone.
            if !rows[.releases].contains(where: { $0.values.dropLast() == release.values.dropLast() }) {
                rows.append(release)
            }
        }
    }

    private mutating func appendRule(_ key: String, _ bundles: [String], to rows: inout PolicyRows) {
        let bundle = random.chance(70) ? Self.text(random.pick(bundles)) : .null
        let target = bundle != .null && random.chance(40) ? Self.text(random.pick(Self.versions)) : .null
        let locksOut = random.chance(40)
        let start =
            random.chance(30) ? Timestamp(secondsSince1970: Int64.random(in: 0...2_000_000_000, using: &random)) : nil
        rows.append(
            PolicyRow(
                .rules,
                values: [
                    Self.text(key), bundle, .boolean(random.chance(50)),
                    .integer(random.pick([0, 0, -1, 7, .max, .min])),
                    maybe { Self.text($0.random.pick(Self.ranges)) }, maybe { Self.text($0.random.pick(Self.ranges)) },
                    maybe { Self.text($0.random.pick(Self.ranges)) },
                    maybe {
                        .texts($0.random.some(["ios", "android", "no", "1.0", "web os"].map { UTF8Text($0) }, upTo: 3))
                    },
                    maybe { $0.regions() },
                    maybe { .texts($0.random.some(["no", "de", "*", "zh-Hant"].map { UTF8Text($0) }, upTo: 3)) },
                    maybe { $0.attributes() }, target,
                    maybe { target != .null || locksOut ? $0.soak() : .null }, percentage(),
                    start.map { .time($0) } ?? .null,
                    maybe { .time(($0.timestamp(after: start))) }, title(), body(),
                    maybe { Self.text($0.random.pick(Self.links)) }, .boolean(locksOut),
                    // A lockout that needs no way out is accepted whatever the releases are.
                    .boolean(locksOut), .boolean(random.chance(20)), maybe { $0.note() },
                ]
            )
        )
        if random.chance(50) {
            for language in random.some(Self.languages, upTo: 3) {
                rows.append(PolicyRow(.ruleTexts, values: [Self.text(key), Self.text(language), title(), body()]))
            }
        }
        if random.chance(40) {
            let times = Set((0..<Int.random(in: 1...3, using: &random)).map { _ in timestamp(after: nil) }).sorted()
            let shares = times.map { _ in Int.random(in: 0...10_000, using: &random) }.sorted()
            for (time, share) in zip(times, shares) {
                rows.append(
                    PolicyRow(
                        .rolloutSteps,
                        values: [Self.text(key), .time(time), .percentage(Percentage(hundredths: share) ?? .all)]
                    )
                )
            }
        }
    }

    private mutating func maybe(_ value: (inout PolicyRowsGenerator) -> PolicyValue) -> PolicyValue {
        random.chance(40) ? value(&self) : .null
    }

    private static func text(_ text: String) -> PolicyValue { .text(UTF8Text(text)) }

    private mutating func awkward() -> String {
        var text = random.pick(Self.awkwardTexts)
        while random.chance(30) { text += random.pick(["", " ", "\n", ": ", ", "]) + random.pick(Self.awkwardTexts) }
        return text
    }

    /// A text that people can see, as the database wants it.
    private mutating func title() -> PolicyValue {
        let text = awkward()
        return Self.text(text.allSatisfy { " \n\u{A0}".contains($0) } ? "x\(text)" : text)
    }

    private mutating func body() -> PolicyValue { title() }

    private mutating func note() -> PolicyValue {
        Self.text(random.chance(40) ? random.pick(Self.awkwardNotes) : awkward())
    }

    private mutating func regions() -> PolicyValue {
        .texts(random.some(["NO", "US", "JP", "DE", "XK"].map { UTF8Text($0) }, upTo: 4))
    }

    private mutating func attributes() -> PolicyValue {
        let plain = Self.awkwardTexts.filter { !$0.hasPrefix(" ") && !$0.hasSuffix(" ") && !$0.contains("\n") }
        let names = random.some(plain + ["channel", String(repeating: "long ", count: 25) + "."], upTo: 4)
        var attributes: [UTF8Text: [UTF8Text]] = [:]
        for name in names { attributes[UTF8Text(name)] = random.some(Self.awkwardTexts, upTo: 3).map { UTF8Text($0) } }
        return .attributes(attributes)
    }

    private mutating func soak() -> PolicyValue {
        .duration(
            SoakTime(
                days: random.pick([0, 1, 2, 30]),
                microseconds: random.pick([0, 1, 3_600_000_000, 129_600_500_000, 5_400_000_000, 86_400_000_000])
            )
        )
    }

    private mutating func percentage() -> PolicyValue {
        .percentage(
            random.chance(50) ? .all : Percentage(hundredths: Int.random(in: 0...10_000, using: &random)) ?? .all
        )
    }

    private mutating func timestamp(after start: Timestamp?) -> Timestamp {
        if let start { return start.advanced(byMicroseconds: Int64.random(in: 1...9_000_000_000_000, using: &random)) }
        let seconds = Int64.random(in: -62_135_596_800...253_402_300_799, using: &random)
        return Timestamp(microsecondsSince1970: seconds * 1_000_000 + random.pick([0, 0, 1, 250_000, 999_999]))
    }
}
