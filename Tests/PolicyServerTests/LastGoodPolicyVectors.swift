import Foundation
import TestPolicies
import UpdatePolicy

/// Files of the last good policy as versions of versiongate wrote them, all of the same policy.
///
/// `format-1` was written by the server before it had a coding of its own. A file in this folder is never changed: it
/// stands for what is on somebody's disk.
enum LastGoodPolicyVectors {
    /// The formats of which there is a file.
    static let formats = [1, 2]

    /// The bytes of a file.
    static func contents(ofFormat format: Int) throws -> Data { try Vectors.data("last-good-policy/format-\(format)") }

    /// The bytes of a file with the hints of messages, which came after the first file of its format.
    static func contentsWithHints() throws -> Data { try Vectors.data("last-good-policy/hints") }

    /// What it holds.
    static let policyWithHints = Policy(
        revision: 7,
        token: "9794ace5-413a-4de7-97a5-aa3e4d718917",
        apps: [App(bundle: "com.example.doto")],
        rules: [
            Rule(key: "update", title: "Please update", text: "{target} is there") {
                $0.bundle = "com.example.doto"
                $0.target = "1.2"
                $0.remind = DayTimeInterval(microseconds: 86_400_000_000)
                $0.shows = 3
                $0.skippable = true
            }
        ]
    )

    /// What they hold, rows in their order: every member, each with a value that is not its default, and rows that have
    /// nothing but defaults.
    static let policy = Policy(
        revision: 1,
        token: "9794ace5-413a-4de7-97a5-aa3e4d718917",
        apps: [
            App(bundle: "com.example.Doto", name: "Doto \"é\" \\ 😀") {
                $0.storeLinks = [
                    StoreLink(platform: "android", link: "market://details?id=com.example.doto"),
                    StoreLink(platform: "ios", link: "https://apps.apple.com/app/id1"),
                ]
            },
            App(bundle: "com.example.paused") {
                $0.paused = true
            },
        ],
        releases: [
            Release(id: 1, bundle: "com.example.Doto", platform: "ios", version: "1.2") {
                $0.build = "42"
                $0.minOS = "15"
                $0.regions = ["DE", "JP"]
                $0.liveAt = Timestamp(microsecondsSince1970: 1_772_366_400_000_001)
                $0.withdrawnAt = Timestamp("2030-01-01T00:00:00Z")
            },
            Release(id: 2, bundle: "com.example.Doto", platform: "ios", version: "2.0.0-beta.1") {
                $0.staged = true
            },
        ],
        rules: [
            Rule(key: "update", title: "Update {app} / \"now\"", text: "{target}\nis there") {
                $0.bundle = "com.example.Doto"
                $0.enabled = true
                $0.position = -3
                $0.versions = "<1.2"
                $0.builds = "<42"
                $0.os = ">=14"
                $0.platforms = ["ios", "android"]
                $0.regions = ["DE", "JP"]
                $0.languages = ["de", "zh-Hant"]
                $0.attributes = [
                    AttributeCondition(name: "device", values: ["a"]),
                    AttributeCondition(name: "channel", values: ["beta", "É\n"]),
                ]
                $0.target = "1.2"
                $0.soak = DayTimeInterval(microseconds: 259_200_500_000)
                $0.rollout = Percentage(hundredths: 3_725) ?? .all
                $0.startsAt = Timestamp("2026-03-01T00:00:00Z")
                $0.endsAt = Timestamp("2099-01-01T00:00:00Z")
                $0.link = "store"
                $0.lockout = true
                $0.lockoutWithoutUpdate = true
                $0.final = true
                $0.texts = [RuleText(language: "de", title: "Neu", text: "Da ist {target}")]
            },
            Rule(key: "hello", title: "Hello", text: "Text of hello") {
                $0.bundle = "com.example.Doto"
                $0.enabled = true
                $0.texts = [RuleText(language: "zh-Hant", title: "你好", text: "文字")]
            },
            Rule(key: "ramp", title: "Ramp", text: "x") {
                $0.bundle = "com.example.Doto"
                $0.enabled = true
                $0.rollout = .zero
                $0.steps = [
                    RolloutStep(
                        at: Timestamp(secondsSince1970: 1_772_323_200),
                        rollout: Percentage(hundredths: 1_000) ?? .all
                    ),
                    RolloutStep(
                        at: Timestamp(microsecondsSince1970: 4_076_096_523_000_004),
                        rollout: Percentage(hundredths: 9_999) ?? .all
                    ),
                ]
            },
            Rule(key: "off", title: "Off", text: "x") {
                $0.bundle = "com.example.paused"
                $0.enabled = false
            },
            Rule(key: "everybody", title: "For all", text: "Every app.") {
                $0.enabled = true
                $0.position = 5
                $0.versions = "*"
                $0.link = "https://example.com/"
            },
        ]
    )
}
