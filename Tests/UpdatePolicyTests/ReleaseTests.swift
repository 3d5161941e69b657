import TestPolicies
import Testing
import UpdatePolicy

/// What releases are to rules beside the semantic cases: above all, how it is told.
@Suite("Releases")
struct ReleaseTests {
    @Test("A release that is withdrawn before it is live is withdrawn already, and is told of as nothing to come")
    func withdrawnBeforeLive() {
        for (live, withdrawn, kinds) in [
            (TestPolicy.hours(2), TestPolicy.hours(1), []), (TestPolicy.hours(2), TestPolicy.hours(2), []),
            (TestPolicy.hours(-24), TestPolicy.noon, []),
            (TestPolicy.hours(-24), TestPolicy.hours(1), [.releaseWithdrawn]),
            (TestPolicy.hours(1), TestPolicy.hours(2), [.releaseLive, .releaseWithdrawn]),
        ] as [(Timestamp, Timestamp, [PolicyEvent.Kind])] {
            let release = TestPolicy.release("1.2") { ($0.liveAt, $0.withdrawnAt) = (live, withdrawn) }
            let events = Policy(revision: 1, token: "", releases: [release]).eventsOfNextDay(at: TestPolicy.noon)
            #expect(events.map(\.kind) == kinds, "\(live), \(withdrawn)")
        }
    }

    @Test(
        "With a greater version of no recorded build, or an unreadable version, the build decides on the way out",
        arguments: [
            ("1.3", nil, "1.2", "r"), ("1.3", "41", "1.2", "r"), ("1.3", "42", "1.2", "r!"), ("1.2", "42", "?", "r!"),
            ("1.2", "42", "", "r!"),
        ] as [(String, String?, String, String)]
    )
    func builds(_ release: String, _ build: String?, _ version: String, _ key: String) throws {
        let policy = try TestPolicy.policy(
            [TestPolicy.rule("r") { ($0.builds, $0.lockout) = ("<42", true) }],
            releases: [TestPolicy.release(release) { $0.build = build }]
        )
        #expect(policy.keys(try TestPolicy.client(["version": version, "build": "40", "platform": "ios"])) == [key])
    }

    /// What is told of a rule with the target 1.2 to a client of 1.0 on iOS 17 in Germany, by the releases.
    private static let awaited: [(told: String, releases: [Release])] = [
        ("- | 1.2: staged", [TestPolicy.release("1.2") { $0.staged = true }]),
        ("- | 1.2: no live date", [TestPolicy.release("1.2") { $0.liveAt = nil }]),
        ("- | 1.2: live from 2026-03-01T13:00:00Z", [TestPolicy.release("1.2") { $0.liveAt = TestPolicy.hours(1) }]),
        ("- | 1.2: region JP, US", [TestPolicy.release("1.2") { $0.regions = ["JP", "US"] }]),
        (
            "- | 1.2: region US",
            [
                TestPolicy.release("1.2") { $0.regions = ["US"] },
                TestPolicy.release("1.2") { ($0.id, $0.regions, $0.liveAt) = (2, ["JP"], TestPolicy.hours(1)) },
            ]
        ),
        ("- | 1.2 (42): os 18.0", [TestPolicy.release("1.2") { ($0.minOS, $0.build) = ("18.0", "42") }]),
        ("- | -", [TestPolicy.release("1.2") { $0.withdrawnAt = TestPolicy.hours(-1) }]),
        // Withdrawn before it was live: nobody ever gets it.
        (
            "- | -",
            [TestPolicy.release("1.2") { ($0.liveAt, $0.withdrawnAt) = (TestPolicy.hours(1), TestPolicy.hours(1)) }]
        ),
        ("1.1 | -", [TestPolicy.release("1.1")]), ("- | -", [TestPolicy.release("1.2") { $0.platform = "android" }]),
    ]

    @Test("The release that is waited for is told with what it waits for, and what the client can get instead")
    func awaits() throws {
        for (told, releases) in Self.awaited {
            let policy = try TestPolicy.policy([TestPolicy.rule("r") { $0.target = "1.2" }], releases: releases)
            let client = try TestPolicy.client(["version": "1.0", "platform": "iOS", "region": "DE", "os": "17"])
            #expect(policy.explain(client, at: TestPolicy.noon).map(\.told) == ["no match, target: >=1.2 | \(told)"])
        }
        // Each region has its own time.
        let policy = try TestPolicy.policy(
            [TestPolicy.rule("r") { $0.target = "1.2" }], releases: Self.awaited[4].releases)
        let japan = try TestPolicy.client(["version": "1.1", "platform": "ios", "region": "JP"])
        #expect(policy.keys(japan) == [] && policy.keys(japan, at: TestPolicy.hours(1)) == ["r"])
    }

    @Test("A soak, a target that is reached, an offer and why it is no way out are told")
    func tells() throws {
        let soaking = TestPolicy.rule("r") { ($0.target, $0.soak) = ("1.2", DayTimeInterval(days: 2, microseconds: 0)) }
        let target = TestPolicy.rule("r") { $0.target = "1.2" }
        let lockout = TestPolicy.rule("r") { ($0.versions, $0.lockout) = ("1.0 || 1.2", true) }
        for (rule, version, told) in [
            (soaking, "1.1", "no match, target: >=1.2 | - | 1.2: soaks until 2026-03-02T12:00:00Z"),
            (target, "1.2", "no match, target: <1.2 | 1.2 | -"), (target, "2", "no match, target: <1.2 | 2 | -"),
            (target, "abc", "no match, target: <1.2 | abc (cannot be read as a version) | -"),
            (lockout, "1.0", "sent without lockout, lockout: a way out | the rule matches the offer | 1.2"),
        ] {
            let releases = [TestPolicy.release("1.1"), TestPolicy.release("1.2") { $0.id = 2 }]
            let policy = try TestPolicy.policy([rule], releases: releases)
            let client = try TestPolicy.client(["version": version, "platform": "ios"])
            #expect(policy.explain(client, at: TestPolicy.noon).map(\.told) == [told], "\(version)")
        }
        let rules = [
            TestPolicy.rule("a") { $0.target = "1.2" },
            TestPolicy.rule("b") { ($0.versions, $0.lockout) = ("<1.2", true) },
            TestPolicy.rule("c") { ($0.lockout, $0.lockoutWithoutUpdate) = (true, true) },
        ]
        let releases = [
            TestPolicy.release("1.2") { $0.build = "7" },
            TestPolicy.release("1.3") { ($0.id, $0.regions) = (2, ["US"]) },
        ]
        let client = try TestPolicy.client(["version": "1.1", "platform": "ios"])
        let told = try TestPolicy.policy(rules, releases: releases).explain(client, at: TestPolicy.noon).map(\.told)
        #expect(told == ["sent, -: - | - | 1.3", "sent, -: - | - | 1.2 (7)", "sent, -: - | - | -"])
    }
}

extension Explanation {
    /// The outcome, the condition, what was expected, what there was, and the release.
    var told: String {
        "\(outcome.rawValue), \(condition ?? "-"): \(expected ?? "-") | \(actual ?? "-") | \(release ?? "-")"
    }
}
