// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import UpdatePolicy

extension SemanticCase {
    /// The cases about conditions, texts, order and time.
    static let rules: [SemanticCase] = [
        SemanticCase(
            5,
            "an unreadable version meets no range, and every rule without one",
            [rule("any"), rule("star") { $0.versions = "*" }],
            [
                "1.", ".1", "1..0", "1,2", "\u{FF11}.\u{FF10}", "abc", "-1", "1.2-", "1.2-a..b",
                "Version 17.2 (Build 21C62)", String(repeating: "1", count: 129),
            ].map { ask(["version": .text($0)], "any") } + [
                ask(["version": ""], "any"), ask(["version": "1"], "any star"),
            ]
        ),
        SemanticCase(
            6,
            "a number is taken as it was written",
            [rule("new") { $0.versions = ">=1.10" }],
            [
                ask(["version": .number("1.10")], "new"), ask(["version": "1.9"], ""),
                ask(["version": .number("1.1")], ""),
                ask(["version": .number("-2")], ""),
            ]
        ),
        SemanticCase(
            6,
            "a number with an exponent is not read as a pre-release",
            [rule("old") { $0.versions = "<1.2" }],
            [
                Ask(
                    check: Check(client: ["bundle": .text(bundle), "version": .number("1e2")], time: noon),
                    sent: "",
                    comparesExplanations: false
                )
            ]
        ),
        SemanticCase(
            43,
            "blanks at the ends of a version do not count, within it they do",
            [
                rule("version") { $0.versions = "1.2" },
                rule("build") { $0.builds = "41" },
                rule("os") { $0.os = "17.x" },
            ],
            [" 1.2\r\n", "\n\t1.2", "1.2\r"].map {
                ask(["version": .text($0), "build": "\n41", "os": "17.1\r\n "], "build os version")
            } + ["1.2\u{B}", "1.2\u{A0}", "1.\n2", "1.2\nrc1"].map { ask(["version": .text($0)], "") }
        ),
        SemanticCase(
            19,
            "what is longer than its bound was not sent",
            [
                rule("de") { $0.languages = ["de"] },
                rule("jp") { $0.regions = ["JP"] },
                rule("p") { $0.platforms = ["p" + String(repeating: "q", count: 30)] },
                rule("v") {
                    $0.attributes = [AttributeCondition(name: "v", values: [String(repeating: "v", count: 1_024)])]
                },
            ],
            [
                ask(
                    [
                        "language": .text("de-" + String(repeating: "x", count: 61)),
                        "region": .text("ja-JP-" + String(repeating: "x", count: 58)),
                        "platform": .text("p" + String(repeating: "q", count: 30)),
                        "v": .text(String(repeating: "v", count: 1_024)),
                    ],
                    "de jp p v"
                ),
                ask(
                    [
                        "language": .text("de-" + String(repeating: "x", count: 62)),
                        "region": .text("ja-JP-" + String(repeating: "x", count: 59)),
                        "platform": .text(String(repeating: "q", count: 65)),
                        "v": .text(String(repeating: "v", count: 1_025)),
                    ],
                    "",
                    explained: ["de": "languages", "jp": "regions", "p": "platforms", "v": "attributes.v"]
                ),
            ]
        ),
        SemanticCase(
            16,
            "what names no region meets no rule that asks for one",
            [rule("all"), rule("jp") { $0.regions = ["JP", "US", "DE", "GB"] }],
            [
                "en", "de", "us", "JPN", "English", "zh-Hant", "es-419", "en-x-US", "en-u-rg-gbzzzz", "UK", "", "x-US",
            ].map { ask(["region": .text($0)], "all") } + [
                ask(["region": .null], "all"), ask([:], "all"), ask(["region": "ja_JP"], "all jp"),
            ]
        ),
        SemanticCase(
            17,
            "platforms and bundles compare without ASCII case, and iOS has other names",
            [rule("ios") { $0.platforms = ["iPadOS"] }],
            [
                ask(["platform": "IOS"], "ios"), ask(["platform": "iPadOS"], "ios"),
                ask(["platform": "iPhone OS"], "ios"),
                ask(["platform": "\u{130}OS"], ""), ask(["platform": "ios", "bundle": "COM.Example.DOTO"], "ios"),
                ask(["platform": "android"], ""), ask([:], ""),
            ]
        ),
        SemanticCase(
            18,
            "attributes compare as text, byte by byte",
            [
                rule("channel") { $0.attributes = [AttributeCondition(name: "channel", values: ["beta"])] },
                rule("flag") { $0.attributes = [AttributeCondition(name: "f", values: ["true"])] },
                rule("number") { $0.attributes = [AttributeCondition(name: "n", values: ["1"])] },
                rule("accent") { $0.attributes = [AttributeCondition(name: "e", values: ["\u{E9}"])] },
            ],
            [
                ask(["channel": "beta"], "channel"), ask(["channel": "Beta"], ""), ask(["n": .number("1")], "number"),
                ask(["n": "1"], "number"), ask(["n": .number("1.0")], ""), ask(["f": .boolean(true)], "flag"),
                ask(["e": "\u{E9}"], "accent"), ask(["e": "e\u{301}"], ""),
            ]
        ),
        SemanticCase(
            19,
            "null counts as not sent, and unknown objects are ignored",
            [rule("all"), rule("region") { $0.regions = ["JP"] }],
            [ask(["region": .null], "all"), ask(["ab": .composite("{\"x\": 1}"), "region": "JP"], "all region")]
        ),
        SemanticCase(
            21,
            "a rule for every app reaches unknown apps, without a link where it is the store's",
            [
                rule("every") {
                    $0.bundle = nil
                    $0.link = "store"
                    $0.lockout = true
                    $0.lockoutWithoutUpdate = true
                }
            ],
            app: App(bundle: bundle, storeLinks: [StoreLink(platform: "ios", link: "https://a.example/1")]),
            [
                ask(["bundle": "com.example.unknown", "platform": "ios"], "every!", links: [nil]),
                ask(["platform": "ios"], "every!", links: ["https://a.example/1"]),
            ]
        ),
        SemanticCase(
            21,
            "a paused app answers nothing, not even rules for every app",
            [
                rule("every") {
                    $0.bundle = nil
                    $0.lockout = true
                    $0.lockoutWithoutUpdate = true
                }, rule("own"),
            ],
            app: App(bundle: bundle, paused: true),
            [ask([:], "", explained: ["every": "paused", "own": "paused"])]
        ),
        SemanticCase(
            22,
            "languages match by basic filtering",
            [rule("hant") { $0.languages = ["zh-Hant"] }],
            [
                ask(["language": "zh-Hant-TW"], "hant"), ask(["language": "zh_hant_tw"], "hant"),
                ask(["language": "zh-TW"], ""), ask([:], ""),
            ]
        ),
        SemanticCase(
            22,
            "texts are found by lookup, and the region is no language",
            [
                rule("own") {
                    $0.texts = [
                        RuleText(language: "zh", title: "zh", text: "zh"),
                        RuleText(language: "de", title: "de", text: "de"),
                    ]
                }
            ],
            [
                ask(["language": "zh-Hant-TW"], "own", titles: ["zh"]),
                ask(["language": "de_AT"], "own", titles: ["de"]),
                ask(["language": "pt"], "own", titles: ["own"]), ask(["region": "de_DE"], "own", titles: ["own"]),
            ]
        ),
        SemanticCase(
            23,
            "a final rule ends the list",
            finalRules { _ in },
            [ask(["version": "1.1"], "c a", explained: ["b": "after a final rule"])]
        ),
        SemanticCase(
            23,
            "a final rule that is disabled does not end the list",
            finalRules { $0.enabled = false },
            [ask(["version": "1.1"], "c b", explained: ["a": "enabled"])]
        ),
        SemanticCase(
            23,
            "a final rule that does not reach the install does not end the list",
            finalRules { $0.rollout = .zero },
            [ask(["version": "1.1", "install": "x"], "c b", explained: ["a": "rollout"])]
        ),
        SemanticCase(
            23,
            "a final lockout without a way out ends the list as a message",
            finalRules {
                $0.lockout = true
                $0.versions = "<1.2"
            },
            releases: [release("1.2") { $0.staged = true }],
            [
                ask(
                    ["version": "1.1", "platform": "ios"],
                    "c a",
                    explained: ["a": "sent without lockout", "b": "after a final rule"]
                )
            ]
        ),
        ramp(2_500, reaches: "install-2279", not: "install-5657"),
        ramp(3_725, reaches: "install-18966", not: "install-978"),
        ramp(9_999, reaches: "install-4831", not: "install-2229"),
        ramp(10_000, reaches: "install-2229", not: nil),
        ramp(1, reaches: "install-4831", not: "install-2229"),
        ramp(0, reaches: nil, not: "install-4831"),
        SemanticCase(
            26,
            "a client without an install is in only at 100",
            [rule("all") { $0.rollout = .all }, rule("most") { $0.rollout = Percentage(hundredths: 9_999) ?? .zero }],
            [
                ask([:], "all"), ask(["install": ""], "all"),
                ask(["install": .text(String(repeating: "i", count: 129))], "all"),
                ask(["install": "00000000-0000-0000-0000-000000000000"], "all"),
            ]
        ),
        SemanticCase(
            28,
            "a step holds from its time on",
            [
                rule("a") {
                    $0.rollout = Percentage(hundredths: 500) ?? .zero
                    $0.steps = [
                        RolloutStep(
                            at: noon.advanced(byMicroseconds: 3_600_000_000),
                            rollout: Percentage("25") ?? .zero
                        ),
                        RolloutStep(at: noon.advanced(byMicroseconds: 7_200_000_000), rollout: .all),
                    ]
                }
            ],
            [
                ask([:], seconds: 3_600, microseconds: -1, "", explained: ["a": "rollout 5"]),
                ask([:], seconds: 3_600, "", explained: ["a": "rollout 25"]),
                ask([:], seconds: 7_200, microseconds: -1, "", explained: ["a": "rollout 25"]),
                ask([:], seconds: 7_200, "a", explained: ["a": "rollout 100"]),
            ]
        ),
        SemanticCase(
            29,
            "a rule applies from its start until just before its end",
            [
                rule("a") {
                    $0.startsAt = noon
                    $0.endsAt = noon.advanced(byMicroseconds: 3_600_000_000)
                }
            ],
            [
                ask([:], microseconds: -1, ""), ask([:], "a"), ask([:], seconds: 3_600, microseconds: -1, "a"),
                ask([:], seconds: 3_600, ""),
            ]
        ),
        SemanticCase(
            39,
            "a suffix of a version is ignored",
            [rule("a") { $0.versions = "1.0" }],
            [ask(["version": "1.0+45"], "a"), ask(["version": "1.0 45"], ""), ask(["os": ""], "")]
        ),
        SemanticCase(
            40,
            "placeholders are filled in one pass",
            [
                rule("a") {
                    $0.title = "{app} {target} {x}"
                    $0.target = "1.2"
                }
            ],
            releases: [release("1.2")],
            app: App(bundle: bundle, name: "{target}"),
            [ask(["version": "1.1", "platform": "ios"], "a", titles: ["{target} 1.2 {x}"])]
        ),
    ]

    private static func finalRules(_ change: (inout Rule) -> Void) -> [Rule] {
        [
            rule("b"),
            rule("a") {
                $0.final = true
                change(&$0)
            },
            rule("c") { $0.position = -1 },
        ]
    }

    /// The rule for whose key the installs of the contract were found, at a share in hundredths of a percent.
    private static func ramp(_ hundredths: Int, reaches included: String?, not excluded: String?) -> SemanticCase {
        let rollout = Percentage(hundredths: hundredths) ?? .zero
        return SemanticCase(
            25,
            "at \(rollout) % the share is exact",
            [rule("ramp") { $0.rollout = rollout }],
            [
                included.map { ask(["install": .text($0)], "ramp") }, excluded.map { ask(["install": .text($0)], "") },
            ].compactMap { $0 }
        )
    }
}
