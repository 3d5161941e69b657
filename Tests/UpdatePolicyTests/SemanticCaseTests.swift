// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Testing
import UpdatePolicy

@Suite("Whom a rule reaches")
struct SemanticCaseTests {
    @Test(
        "A version that cannot be read meets no range, not even *",
        arguments: ["", "1.", ".1", "1..0", "1,2", "１.０", "abc", "-1", "1.2-", "Version 17.2 (Build 21C62)"]
    )
    func unreadableVersion(_ version: String) throws {
        let policy = try TestPolicy.policy([
            TestPolicy.rule("any"), TestPolicy.rule("star") { $0.versions = "*" },
        ])
        #expect(policy.keys(try TestPolicy.client(["version": version])) == ["any"])
    }

    @Test("A version is a number as it was written, and with an exponent it was not sent")
    func numbersAsVersions() throws {
        let policy = try TestPolicy.policy([
            TestPolicy.rule("above") { $0.versions = ">=1.10" }, TestPolicy.rule("below") { $0.versions = "<1.2" },
        ])
        func keys(_ value: MemberValue) throws -> [String] {
            var client = try TestPolicy.client()
            try client.set("version", to: value)
            return policy.keys(client)
        }
        #expect(try keys(.number("1.10")) == ["above"])
        #expect(try keys(.text("1.9")) == [])
        #expect(try keys(.number("1e2")) == [])
        #expect(try keys(.text("1e2")) == ["below"])
    }

    @Test(
        "ASCII case of platform and bundle does not count, other letters are left alone",
        arguments: [("IOS", true), ("iPadOS", true), ("iPhone OS", true), ("İOS", false), ("", false)]
    )
    func platforms(_ platform: String, _ isMet: Bool) throws {
        let policy = try TestPolicy.policy([TestPolicy.rule("r") { $0.platforms = ["ios", "macos"] }])
        let client = try TestPolicy.client(["bundle": "COM.Example.DOTO", "platform": platform])
        #expect(policy.keys(client) == (isMet ? ["r"] : []))
    }

    @Test("Attributes compare as bytes of text, numbers as written")
    func attributes() throws {
        let policy = try TestPolicy.policy([
            TestPolicy.rule("channel") { $0.attributes = [AttributeCondition(name: "channel", values: ["beta"])] },
            TestPolicy.rule("flag") { $0.attributes = [AttributeCondition(name: "f", values: ["true"])] },
            TestPolicy.rule("number") { $0.attributes = [AttributeCondition(name: "n", values: ["1"])] },
            TestPolicy.rule("accent") { $0.attributes = [AttributeCondition(name: "a", values: ["é"])] },
            TestPolicy.rule("two") {
                $0.attributes = [
                    AttributeCondition(name: "n", values: ["2", "1"]), AttributeCondition(name: "f", values: ["true"]),
                ]
            },
        ])
        func keys(_ members: KeyValuePairs<UTF8Text, MemberValue>) throws -> [String] {
            var client = try TestPolicy.client()
            for (name, value) in members { try client.set(name, to: value) }
            return policy.keys(client)
        }
        #expect(try keys(["channel": .text("beta")]) == ["channel"])
        #expect(try keys(["channel": .text("Beta")]) == [])
        #expect(try keys(["n": .number("1")]) == ["number"])
        #expect(try keys(["n": .text("1")]) == ["number"])
        #expect(try keys(["n": .number("1.0")]) == [])
        #expect(try keys(["f": .boolean(true)]) == ["flag"])
        #expect(try keys(["a": .text("\u{e9}")]) == ["accent"])
        #expect(try keys(["a": .text("e\u{301}")]) == [])
        #expect(try keys(["f": .boolean(true), "n": .number("1")]) == ["flag", "number", "two"])
    }

    @Test("A rule for every app reaches an unknown bundle, without a store link")
    func unknownBundle() throws {
        var every = TestPolicy.rule("every") { $0.link = "store" }
        every.bundle = nil
        every.text = "{app} {target}"
        let apps = [
            App(bundle: "a.b", paused: true),
            App(bundle: "c.d", name: "{target}", storeLinks: [StoreLink(platform: "iOS", link: "https://c.d")]),
        ]
        let policy = try TestPolicy.policy([every], apps: apps)
        let unknown = policy.messages(for: try TestPolicy.client(["bundle": "X.Y"]), at: TestPolicy.noon)
        #expect(
            unknown == [Message(id: "every", title: "every", text: "X.Y {target}", link: nil, lockout: false)]
        )
        let known = policy.messages(
            for: try TestPolicy.client(["bundle": "C.D", "platform": "iPadOS"]),
            at: TestPolicy.noon
        )
        #expect(known.map(\.text) == ["{target} {target}"])
        #expect(known.map(\.link) == ["https://c.d"])
        #expect(policy.keys(try TestPolicy.client(["bundle": "a.b"])) == [])
    }

    @Test("A paused app answers nothing, not even a lockout for every app")
    func paused() throws {
        let rules = [
            TestPolicy.rule("own"),
            Rule(key: "every", title: "t", text: "t", lockout: true, lockoutWithoutUpdate: true),
        ]
        let policy = try TestPolicy.policy(rules, apps: [App(bundle: TestPolicy.bundle, paused: true)])
        #expect(policy.keys(try TestPolicy.client()) == [])
        let explained = policy.explain(try TestPolicy.client(), at: TestPolicy.noon)
        #expect(explained.map(\.condition) == ["paused", "paused"])
        #expect(explained.map(\.expected) == ["false", "false"])
        #expect(explained.map(\.actual) == ["true", "true"])
    }

    @Test(
        "A language condition is basic filtering",
        arguments: [("zh-Hant-TW", true), ("zh_hant_tw", true), ("zh-TW", false), ("", false)]
    )
    func languages(_ language: String, _ isMet: Bool) throws {
        let policy = try TestPolicy.policy([TestPolicy.rule("r") { $0.languages = ["zh-Hant"] }])
        #expect(policy.keys(try TestPolicy.client(["language": language])) == (isMet ? ["r"] : []))
    }

    @Test(
        "The text is looked up by language, never by region",
        arguments: [("zh-Hant-TW", "zh"), ("de_AT", "de"), ("pt", "own"), ("", "own")]
    )
    func texts(_ language: String, _ title: String) throws {
        let policy = try TestPolicy.policy([
            TestPolicy.rule("own") {
                $0.texts = [
                    RuleText(language: "zh", title: "zh", text: "zh"),
                    RuleText(language: "de", title: "de", text: "de"),
                ]
            }
        ])
        let client = try TestPolicy.client(["language": language, "region": "de_DE"])
        #expect(policy.messages(for: client, at: TestPolicy.noon).map(\.title) == [title])
        let answer = policy.answer(to: client, at: TestPolicy.noon)
        #expect(String(decoding: answer.body, as: UTF8.self).contains(#""title":"\#(title)""#))
    }

    @Test("Messages come by position, then key, and none follows a final one that was sent")
    func order() throws {
        func keys(_ change: (inout Rule) -> Void) throws -> [String] {
            let rules = [
                TestPolicy.rule("b"),
                TestPolicy.rule("a") {
                    $0.final = true
                    change(&$0)
                },
                TestPolicy.rule("c") { $0.position = -1 },
            ]
            return try TestPolicy.policy(rules).keys(try TestPolicy.client(["install": "i"]))
        }
        #expect(try keys { _ in } == ["c", "a"])
        #expect(try keys { $0.enabled = false } == ["c", "b"])
        #expect(try keys { $0.rollout = .zero } == ["c", "b"])
        #expect(try keys { $0.lockout = true } == ["c", "a"])
    }

    @Test("What stands behind a final rule is told so")
    func afterFinal() throws {
        let policy = try TestPolicy.policy([
            TestPolicy.rule("a") { $0.final = true }, TestPolicy.rule("b"), TestPolicy.rule("c") { $0.versions = "*" },
        ])
        let explained = policy.explain(try TestPolicy.client(), at: TestPolicy.noon)
        #expect(explained.map(\.outcome) == [.sent, .afterAFinalRule, .noMatch])
        #expect(explained[1].condition == "final")
        #expect(explained[1].expected == nil)
        #expect(explained[1].actual == "a")
    }

    @Test(
        "An install is in when its bucket is below the rollout",
        arguments: [
            ("install-2279", "25", true), ("install-5657", "25", false), ("install-18966", "37.25", true),
            ("install-978", "37.25", false), ("install-2229", "99.99", false), ("install-2229", "100", true),
            ("install-4831", "0", false), ("install-4831", "0.01", true),
            ("", "99.99", false), ("", "100", true), (String(repeating: "x", count: 129), "99.99", false),
            (String(repeating: "x", count: 129), "100", true),
            ("00000000-0000-0000-0000-000000000000", "99.99", false),
            ("00000000-0000-0000-0000-000000000000", "100", true),
        ]
    )
    func rollout(_ install: String, _ percentage: String, _ isIn: Bool) throws {
        let rollout = try #require(Percentage(percentage))
        let policy = try TestPolicy.policy([TestPolicy.rule("ramp") { $0.rollout = rollout }])
        #expect(policy.keys(try TestPolicy.client(["install": install])) == (isIn ? ["ramp"] : []))
    }

    @Test("A step holds from its time on")
    func steps() throws {
        let policy = try TestPolicy.policy([
            TestPolicy.rule("ramp") {
                $0.rollout = Percentage(hundredths: 500) ?? .zero
                $0.steps = [
                    RolloutStep(at: TestPolicy.hours(2), rollout: .all),
                    RolloutStep(at: TestPolicy.hours(1), rollout: Percentage(hundredths: 2500) ?? .zero),
                ]
            }
        ])
        let client = try TestPolicy.client(["install": "install-2279"])
        func rollout(_ time: Timestamp) -> String? {
            policy.explain(client, at: time).first?.rollout.description
        }
        #expect(rollout(TestPolicy.hours(1, microseconds: -1)) == "5")
        #expect(rollout(TestPolicy.hours(1)) == "25")
        #expect(rollout(TestPolicy.hours(2, microseconds: -1)) == "25")
        #expect(rollout(TestPolicy.hours(2)) == "100")
        #expect(policy.keys(client, at: TestPolicy.hours(1, microseconds: -1)) == [])
        #expect(policy.keys(client, at: TestPolicy.hours(1)) == ["ramp"])
        let explained = try #require(policy.explain(client, at: TestPolicy.noon).first)
        #expect(explained.condition == "rollout")
        #expect(explained.expected == "bucket < 500")
        #expect(explained.actual == "2499")
        #expect(explained.bucket == 2499)
    }

    @Test(
        "A rule applies from its start, inclusive, until its end, exclusive",
        arguments: [(0, -1, false), (0, 0, true), (1, -1, true), (1, 0, false)]
    )
    func schedule(_ hours: Int64, _ microseconds: Int64, _ isSent: Bool) throws {
        let policy = try TestPolicy.policy([
            TestPolicy.rule("r") {
                $0.startsAt = TestPolicy.noon
                $0.endsAt = TestPolicy.hours(1)
            }
        ])
        let time = TestPolicy.hours(hours, microseconds: microseconds)
        #expect(policy.keys(try TestPolicy.client(), at: time) == (isSent ? ["r"] : []))
    }

    @Test("A schedule that is not met is told with both times")
    func scheduleExplained() throws {
        let policy = try TestPolicy.policy([
            TestPolicy.rule("a") { $0.startsAt = TestPolicy.hours(1) },
            TestPolicy.rule("b") { $0.endsAt = TestPolicy.noon },
        ])
        let explained = policy.explain(try TestPolicy.client(), at: TestPolicy.hours(0, microseconds: 5))
        #expect(explained.map(\.condition) == ["starts_at", "ends_at"])
        #expect(explained.map(\.expected) == ["from 2026-03-01T13:00:00Z", "until 2026-03-01T12:00:00Z"])
        #expect(explained.map(\.actual) == ["2026-03-01T12:00:00.000005Z", "2026-03-01T12:00:00.000005Z"])
    }

    @Test("Placeholders are filled in in one pass")
    func placeholders() throws {
        let policy = try TestPolicy.policy(
            [
                TestPolicy.rule("r") {
                    $0.title = "{app} {target} {x}"
                    $0.text = "{{app}} {ap {target"
                    $0.target = "1.2"
                }
            ],
            releases: [TestPolicy.release("1.2")],
            apps: [App(bundle: TestPolicy.bundle, name: "{target}")]
        )
        let client = try TestPolicy.client(["version": "1.1", "platform": "ios"])
        let message = try #require(policy.messages(for: client, at: TestPolicy.noon).first)
        #expect(message.title == "{target} 1.2 {x}")
        #expect(message.text == "{{target}} {ap {target")
    }
}
