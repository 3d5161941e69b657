// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import UpdatePolicy

extension SemanticCase {
    /// The cases about releases, targets and ways out.
    static let releases: [SemanticCase] = [
        SemanticCase(
            30,
            "a soak of two days is over after 48 hours, in any time zone",
            [
                rule("a") {
                    $0.target = "1.2"
                    $0.soak = SoakTime(microseconds: 172_800_000_000)
                }
            ],
            releases: [release("1.2") { $0.liveAt = Timestamp("2026-03-28T11:00:00Z") }],
            ["UTC", "Europe/Berlin"].flatMap { timeZone in
                [("2026-03-30T10:59:59Z", ""), ("2026-03-30T11:00:00Z", "a")].map { time, sent in
                    var ask = ask(["version": "1.1", "platform": "ios"], sent)
                    ask.check.time = Timestamp(time) ?? noon
                    ask.timeZone = timeZone
                    return ask
                }
            }
        ),
        SemanticCase(
            31,
            "an unknown operating system does not hold against a target, but against a way out",
            [
                rule("a") { $0.target = "1.2" },
                rule("b") {
                    $0.versions = "<1.2"
                    $0.lockout = true
                },
            ],
            releases: [release("1.2") { $0.minOS = "15" }],
            [
                ask(["version": "1.1", "platform": "ios", "os": "15"], "a b!"),
                ask(["version": "1.1", "platform": "ios", "os": "14.8"], "b"),
                ask(["version": "1.1", "platform": "ios"], "a b"),
                ask(["version": "1.1", "platform": "ios", "os": "Version 17.2 (Build 21C62)"], "a b"),
            ]
        ),
        securityLockout("an older release is no way out", [release("2.2")], [(0, "a")]),
        securityLockout(
            "a staged release is no way out",
            [release("2.2"), release("2.3.5") { $0.staged = true }],
            [(0, "a")]
        ),
        securityLockout(
            "a way out opens when the soak is over",
            [release("2.2"), release("2.3.5") { $0.liveAt = noon }],
            [(23 * 3_600, "a"), (24 * 3_600, "a!")]
        ),
        securityLockout(
            "a withdrawn release is no way out",
            [release("2.2"), release("2.3.5") { $0.withdrawnAt = noon }],
            [(-1, "a!"), (0, "a")],
            soak: 0
        ),
        buildLockout(nil, "a"),
        buildLockout("40", "a"),
        buildLockout("42", "a!"),
        SemanticCase(
            34,
            "the release that the store hands out must not be locked out itself",
            [
                rule("a") {
                    $0.versions = "1.0 || 1.2"
                    $0.lockout = true
                }
            ],
            releases: [release("1.1"), release("1.2")],
            [ask(["version": "1.0", "platform": "ios"], "a", explained: ["a": "sent without lockout"])]
        ),
        SemanticCase(
            35,
            "a way out is one for the client's own region and platform",
            [
                rule("a") {
                    $0.versions = "<1.2"
                    $0.lockout = true
                    $0.link = "store"
                }
            ],
            releases: [release("1.2") { $0.regions = ["US"] }],
            app: App(bundle: bundle, storeLinks: [StoreLink(platform: "ios", link: "https://a.example/1")]),
            [
                ask(["version": "1.1", "platform": "ios", "region": "JP"], "a", links: ["https://a.example/1"]),
                ask(["version": "1.1", "platform": "ios", "region": "en"], "a", links: ["https://a.example/1"]),
                ask(["version": "1.1"], "a", links: [nil]),
                ask(["version": "1.1", "platform": "android"], "a", links: [nil]),
                ask(["version": "1.1", "platform": "ios", "region": "US"], "a!", links: ["https://a.example/1"]),
            ]
        ),
        preReleaseLockout(
            "10.17.0",
            [
                ("10.17.0-release.0", "600", "a"), ("10.16.9", "1", "a!"), ("10.17.0-release.0", "400", "a"),
                ("10.16-beta", "600", "a!"), ("10.17-0", nil, "a"), ("10.16.9.9-play", nil, "a!"),
            ]
        ),
        preReleaseLockout("10.17.0.1-beta", [("10.17-release.0", "1", "a!"), ("10.17.0.0-a", nil, "a!")]),
        preReleaseLockout("10.18-beta", [("10.16", nil, "a!")]),
    ]

    /// A lockout of everything below 10.17 and a release with the build 500, live since the day before.
    private static func preReleaseLockout(
        _ version: String,
        _ asks: [(version: String, build: String?, sent: String)]
    ) -> SemanticCase {
        SemanticCase(
            41,
            "the release \(version) is a way out for whom it has greater numbers",
            [
                rule("a") {
                    $0.versions = "<10.17"
                    $0.lockout = true
                }
            ],
            releases: [release(version) { $0.build = "500" }],
            asks.map { asked in
                let build = asked.build.map { MemberLiteral.text($0) } ?? .null
                return ask(
                    ["version": .text(asked.version), "build": build, "platform": "ios"],
                    asked.sent,
                    explained: asked.sent == "a" ? ["a": "sent without lockout"] : [:]
                )
            }
        )
    }

    private static func securityLockout(
        _ name: String,
        _ releases: [Release],
        _ asks: [(seconds: Int64, sent: String)],
        soak: Int64 = 86_400_000_000
    ) -> SemanticCase {
        SemanticCase(
            32,
            name,
            [
                rule("a") {
                    $0.versions = ">=2.3 <2.3.5"
                    $0.lockout = true
                    $0.soak = SoakTime(microseconds: soak)
                }
            ],
            releases: releases,
            asks.map { ask(["version": "2.3.1", "platform": "ios"], seconds: $0.seconds, $0.sent) }
        )
    }

    private static func buildLockout(_ build: String?, _ sent: String) -> SemanticCase {
        SemanticCase(
            33,
            "a lockout of builds, and a release of \(build.map { "build \($0)" } ?? "no recorded build")",
            [
                rule("a") {
                    $0.versions = "1.2"
                    $0.builds = "<42"
                    $0.lockout = true
                }
            ],
            releases: [release("1.2") { $0.build = build }, release("1.1")],
            [ask(["version": "1.2", "build": "41", "platform": "ios"], sent)]
        )
    }
}
