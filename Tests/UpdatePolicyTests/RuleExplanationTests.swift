import TestPolicies
import Testing
import UpdatePolicy

@Suite("Rule explanations")
struct RuleExplanationTests {
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
        #expect(unknown == [Message(id: "every", title: "every", text: "X.Y {target}", link: nil, lockout: false)])
        let known = policy.messages(
            for: try TestPolicy.client(["bundle": "C.D", "platform": "iPadOS"]),
            at: TestPolicy.noon
        )
        #expect(known.map(\.text) == ["{target} {target}"])
        #expect(known.map(\.link) == ["https://c.d"])
        #expect(policy.keys(try TestPolicy.client(["bundle": "a.b"])) == [])
    }

    @Test("A bundle with another letter than an app's is not that app, as for a check")
    func otherLetters() throws {
        let policy = Policy(revision: 1, token: "", apps: [App(bundle: "com.example.dok")])
        let kelvin = CheckRemarks(try TestPolicy.client(["bundle": "com.example.do\u{212A}"]), in: policy)
        #expect(kelvin.warnings.first?.hasPrefix("there is no app com.example.do\u{212A}") == true)
        #expect(CheckRemarks(try TestPolicy.client(["bundle": "COM.example.DOK"]), in: policy).warnings == [])
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

    @Test("Why a rule is sent is told: its title, whom it is for, and what of that the client sent")
    func matches() throws {
        let policy = try TestPolicy.policy(
            [
                TestPolicy.rule("all"), TestPolicy.rule("below") { $0.target = "1.2" },
                TestPolicy.rule("other") { $0.versions = "<1" },
                TestPolicy.rule("some") { rule in
                    (rule.versions, rule.platforms, rule.regions) = ("<1.2", ["ios"], ["DE", "AT"])
                    rule.attributes = [AttributeCondition(name: "channel", values: ["beta"])]
                    rule.rollout = Percentage(hundredths: 9_999) ?? .all
                },
            ],
            releases: [TestPolicy.release("1.2")]
        )
        let client = try TestPolicy.client([
            "version": "1.1", "platform": "ios", "region": "de_DE", "channel": "beta", "install": "i",
        ])
        let matches = policy.explain(client, at: TestPolicy.noon).map(\.match)
        #expect(matches[0] == "\"all\" is for everyone.")
        #expect(matches[1] == "\"below\" is for below 1.2; this client sent version 1.1.")
        #expect(matches[2] == nil)
        let bucket = Bucket(key: "some", install: "i").number
        #expect(
            matches[3] == "\"some\" is for <1.2, iOS, DE and AT, channel beta; this client sent platform ios, version"
                + " 1.1, region de_DE, channel beta; its installation is at \(Percentage(hundredths: bucket) ?? .zero) % of the"
                + " 99.99 % that are reached."
        )
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

    @Test("The rollout in force is told, with the bucket of the install")
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
}
