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
            App(bundle: "a.b") {
                $0.paused = true
            },
            App(bundle: "c.d", name: "{target}") {
                $0.storeLinks = [StoreLink(platform: "iOS", link: "https://c.d")]
            },
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
            matches[3] == "\"some\" is for <1.2, iOS, DE or AT, channel beta; this client sent platform ios, version"
                + " 1.1, region de_DE, channel beta; its installation is at \(Percentage(hundredths: bucket) ?? .zero) % of the"
                + " 99.99 % that are reached."
        )
    }

    @Test("A pause, a final rule, a rollout and a schedule are told")
    func tells() throws {
        func told(
            _ rules: [Rule],
            _ members: KeyValuePairs<String, String> = [:],
            paused: Bool = false,
            at time: Timestamp = TestPolicy.noon
        ) throws -> [String] {
            let policy = try TestPolicy.policy(
                rules,
                apps: [
                    App(bundle: TestPolicy.bundle) {
                        $0.paused = paused
                    }
                ])
            return policy.explain(try TestPolicy.client(members), at: time).map(\.told)
        }
        let every = Rule(key: "every", title: "t", text: "t") {
            $0.lockout = true
            $0.lockoutWithoutUpdate = true
        }
        let paused = "no match, paused: false | true | -"
        #expect(try told([TestPolicy.rule("own"), every], paused: true) == [paused, paused])
        let final = [
            TestPolicy.rule("a") { $0.final = true }, TestPolicy.rule("b"), TestPolicy.rule("c") { $0.versions = "*" },
        ]
        #expect(
            try told(final) == [
                "sent, -: - | - | -", "after a final rule, final: - | a | -", "no match, versions: * | - | -",
            ]
        )
        let ramp = TestPolicy.rule("ramp") {
            $0.rollout = Percentage(hundredths: 500) ?? .zero
            $0.steps = [RolloutStep(at: TestPolicy.hours(1), rollout: .all)]
        }
        let install: KeyValuePairs = ["install": "install-2279"]
        #expect(try told([ramp], install) == ["no match, rollout: bucket < 500 | 2499 | -"])
        #expect(try told([ramp], install, at: TestPolicy.hours(1)) == ["sent, -: - | - | -"])
        let schedules = [
            TestPolicy.rule("a") { $0.startsAt = TestPolicy.hours(1) },
            TestPolicy.rule("b") { $0.endsAt = TestPolicy.noon },
        ]
        #expect(
            try told(schedules, at: TestPolicy.hours(0, microseconds: 5)) == [
                "no match, starts_at: from 2026-03-01T13:00:00Z | 2026-03-01T12:00:00.000005Z | -",
                "no match, ends_at: until 2026-03-01T12:00:00Z | 2026-03-01T12:00:00.000005Z | -",
            ]
        )
    }
}
