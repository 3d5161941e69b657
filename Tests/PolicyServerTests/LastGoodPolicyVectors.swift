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
            Rule(
                key: "update", bundle: "com.example.doto", target: "1.2", title: "Please update",
                text: "{target} is there", remind: DayTimeInterval(microseconds: 86_400_000_000), shows: 3,
                skippable: true
            )
        ]
    )

    /// What they hold, rows in their order: every member, each with a value that is not its default, and rows that have
    /// nothing but defaults.
    static let policy = Policy(
        revision: 1,
        token: "9794ace5-413a-4de7-97a5-aa3e4d718917",
        apps: [
            App(
                bundle: "com.example.Doto",
                name: "Doto \"é\" \\ 😀",
                storeLinks: [
                    StoreLink(platform: "android", link: "market://details?id=com.example.doto"),
                    StoreLink(platform: "ios", link: "https://apps.apple.com/app/id1"),
                ]
            ),
            App(bundle: "com.example.paused", paused: true),
        ],
        releases: [
            Release(
                id: 1, bundle: "com.example.Doto", platform: "ios", version: "1.2", build: "42", minOS: "15",
                regions: ["DE", "JP"], liveAt: Timestamp(microsecondsSince1970: 1_772_366_400_000_001),
                withdrawnAt: Timestamp("2030-01-01T00:00:00Z")
            ),
            Release(id: 2, bundle: "com.example.Doto", platform: "ios", version: "2.0.0-beta.1", staged: true),
        ],
        rules: [
            Rule(
                key: "update",
                bundle: "com.example.Doto",
                enabled: true,
                position: -3,
                versions: "<1.2",
                builds: "<42",
                os: ">=14",
                platforms: ["ios", "android"],
                regions: ["DE", "JP"],
                languages: ["de", "zh-Hant"],
                attributes: [
                    AttributeCondition(name: "device", values: ["a"]),
                    AttributeCondition(name: "channel", values: ["beta", "É\n"]),
                ],
                target: "1.2",
                soak: DayTimeInterval(microseconds: 259_200_500_000),
                rollout: Percentage(hundredths: 3_725) ?? .all,
                startsAt: Timestamp("2026-03-01T00:00:00Z"),
                endsAt: Timestamp("2099-01-01T00:00:00Z"),
                title: "Update {app} / \"now\"",
                text: "{target}\nis there",
                link: "store",
                lockout: true,
                lockoutWithoutUpdate: true,
                final: true,
                texts: [RuleText(language: "de", title: "Neu", text: "Da ist {target}")]
            ),
            Rule(
                key: "hello", bundle: "com.example.Doto", enabled: true, title: "Hello", text: "Text of hello",
                texts: [RuleText(language: "zh-Hant", title: "你好", text: "文字")]
            ),
            Rule(
                key: "ramp",
                bundle: "com.example.Doto",
                enabled: true,
                rollout: .zero,
                title: "Ramp",
                text: "x",
                steps: [
                    RolloutStep(
                        at: Timestamp(secondsSince1970: 1_772_323_200),
                        rollout: Percentage(hundredths: 1_000) ?? .all
                    ),
                    RolloutStep(
                        at: Timestamp(microsecondsSince1970: 4_076_096_523_000_004),
                        rollout: Percentage(hundredths: 9_999) ?? .all
                    ),
                ]
            ),
            Rule(key: "off", bundle: "com.example.paused", enabled: false, title: "Off", text: "x"),
            Rule(
                key: "everybody", enabled: true, position: 5, versions: "*", title: "For all", text: "Every app.",
                link: "https://example.com/"
            ),
        ]
    )
}
