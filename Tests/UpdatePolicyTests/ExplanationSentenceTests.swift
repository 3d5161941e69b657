import TestPolicies
import Testing

@testable import UpdatePolicy

@Suite("Explanation sentences")
struct ExplanationSentenceTests {
    /// One rule, one client, and what is said of it.
    struct Case: Sendable {
        let sentence: String
        let rule: @Sendable (inout Rule) -> Void
        let releases: [Release]
        let app: App
        let members: KeyValuePairs<String, String>

        init(
            _ sentence: String,
            _ members: KeyValuePairs<String, String> = [:],
            releases: [Release] = [],
            app: App = App(bundle: TestPolicy.bundle),
            _ rule: @escaping @Sendable (inout Rule) -> Void
        ) {
            (self.sentence, self.rule, self.releases, self.app, self.members) = (sentence, rule, releases, app, members)
        }

        func explanations() throws -> (client: Client, explanations: [Explanation]) {
            let client = try TestPolicy.client(members)
            let policy = try TestPolicy.policy([TestPolicy.rule("k", rule)], releases: releases, apps: [app])
            return (client, policy.explain(client, at: TestPolicy.noon))
        }
    }

    private static let lock = lock(below: "1.2")

    private static let quarter: @Sendable (inout Rule) -> Void = { $0.rollout = Percentage(hundredths: 2500) ?? .all }

    private static func release(_ change: (inout Release) -> Void = { _ in }) -> Release {
        TestPolicy.release("1.2", change)
    }

    private static let old: KeyValuePairs = ["version": "1.1", "platform": "ios", "os": "14", "region": "DE"]

    private static let old64: KeyValuePairs = ["version": "0.6.4", "platform": "macos", "os": "21.6.0"]

    private static func lock(below version: String) -> @Sendable (inout Rule) -> Void {
        { ($0.versions, $0.lockout) = ("<\(version)", true) }
    }

    private static func mac(_ version: String, _ minOS: String) -> Release {
        TestPolicy.release(version) { ($0.platform, $0.minOS) = ("macos", minOS) }
    }

    /// How systems and versions are read, where the outcome hangs on it.
    static let readings: [Case] = [
        Case(
            "k is sent without the lockout: 0.6.5 needs macOS 14.4, and 21.6.0 is no macOS: Darwin's 21 is macOS 12.",
            old64, releases: [mac("0.6.5", "14.4")], lock(below: "0.6.5")
        ),
        Case(
            "k is sent: 0.6.5 is available to this client; 21.6.0 is no macOS: Darwin's 21 is macOS 12.", old64,
            releases: [mac("0.6.5", "14.4")]
        ) { $0.target = "0.6.5" },
        Case(
            "k is sent: 2.0 is available to this client; 16.0 is no macOS: what macOS 26 tells programs of an old SDK.",
            ["version": "1.0", "platform": "macos", "os": "16.0"], releases: [mac("2.0", "26")]
        ) { $0.target = "2.0" },
        Case(
            "k is sent without the lockout: 2.0 needs macOS 26, and 16.7.0 is no macOS: Darwin's 16 is macOS 10.12.",
            ["version": "1.0", "platform": "macos", "os": "16.7.0"], releases: [mac("2.0", "26")], lock(below: "2.0")
        ),
        Case(
            "k is not sent: 2.0 needs macOS 26, but this client has 10.16.",
            ["version": "1.0", "platform": "macos", "os": "10.16"], releases: [mac("2.0", "26")]
        ) { $0.target = "2.0" },
        Case(
            "k is sent without the lockout: 1.2 needs Android 8, and 26 is no Android: API level 26 is Android 8.0.",
            ["version": "1.1", "platform": "android", "os": "26"],
            releases: [release { ($0.platform, $0.minOS) = ("android", "8") }], lock
        ),
        Case(
            "k is sent without the lockout: 1.2 needs iOS 15, and 23.1 is no iOS: Darwin's 23 is iOS 17.",
            ["version": "1.1", "platform": "ios", "os": "23.1"], releases: [release { $0.minOS = "15" }], lock
        ),
        Case(
            "k is not sent: it is for macOS <14, and 21.6.0 is no macOS: Darwin's 21 is macOS 12.",
            ["platform": "macos", "os": "21.6.0"]
        ) { $0.os = "<14" },
        Case("k is sent; 99 is no Android.", ["platform": "android", "os": "99"]) { $0.os = ">14" },
        Case(
            "k is sent: 1.2 is available to this client.", ["version": "1.1", "platform": "ios", "os": "21"],
            releases: [release()]
        ) { $0.target = "1.2" },
        Case(
            "k is sent: 0.1.4 is available to this client; 0.1.4-QA-DEBUG is read as a pre-release, which is below 0.1.4.",
            ["version": "0.1.4-QA-DEBUG", "platform": "ios"], releases: [TestPolicy.release("0.1.4")]
        ) { $0.target = "0.1.4" },
        Case(
            "k is sent without the lockout: the newest release for this client is 0.1.4, which is not newer than its "
                + "0.1.4-QA-DEBUG; 0.1.4-QA-DEBUG is read as a pre-release, which is below 0.1.4.",
            ["version": "0.1.4-QA-DEBUG", "platform": "ios"],
            releases: [TestPolicy.release("0.1.4")], lock(below: "0.1.4")
        ),
        Case(
            "k is sent: 1.16.3 is available to this client; 1.16.3-784-g981ecfca is read as a pre-release, which is below "
                + "1.16.3.",
            ["version": "1.16.3-784-g981ecfca", "platform": "ios"],
            releases: [TestPolicy.release("1.16.3")]
        ) { $0.target = "1.16.3" },
        Case(
            "k is sent: 1.2 is available to this client.", ["version": "1.1-play", "platform": "ios"],
            releases: [release()]
        ) { $0.target = "1.2" },
        Case("k is sent; v1.2b3 is read as a pre-release, which is below 1.2.", ["version": "v1.2b3"]) {
            $0.versions = "<1.2"
        },
        Case(
            "k is not sent: it is for version >=1.2 (1.2 or later), but this client has 1.2-rc1; 1.2-rc1 is read as a "
                + "pre-release, which is below 1.2.",
            ["version": "1.2-rc1"]
        ) { $0.versions = ">=1.2" },
        Case(
            "k is not sent: its target is 5.6.21+2300199, and this client has 5.6.21+2300181; +2300199 and +2300181 count for "
                + "nothing.",
            ["version": "5.6.21+2300181", "platform": "ios"],
            releases: [TestPolicy.release("5.6.21") { $0.build = "2300199" }]
        ) { $0.target = "5.6.21+2300199" },
        Case(
            "k is not sent: its target is 5.6.21, and this client has 5.6.21+7; +7 counts for nothing.",
            ["version": "5.6.21+7", "platform": "ios"]
        ) { $0.target = "5.6.21" },
        Case(
            "k is sent without the lockout: the newest release for this client is 5.6.21, the version that it has, and no "
                + "build is recorded for it; +7 counts for nothing.",
            ["version": "5.6.21+7", "platform": "ios"],
            releases: [TestPolicy.release("5.6.21")], lock(below: "9")
        ),
        Case(
            "k is sent without the lockout: 1.2 was withdrawn at <2026-03-01T12:00:00Z>.", old,
            releases: [release { $0.withdrawnAt = TestPolicy.noon }], lock
        ),
        Case(
            "k is sent without the lockout: 1.2 was withdrawn at <2026-03-01T12:00:00Z>.", old,
            releases: [TestPolicy.release("1.1"), release { $0.withdrawnAt = TestPolicy.noon }], lock
        ),
        Case(
            "k is sent without the lockout: 1.3 is staged, so not everybody can get it.", old,
            releases: [release { $0.withdrawnAt = TestPolicy.noon }, TestPolicy.release("1.3") { $0.staged = true }],
            lock
        ),
        Case(
            "k is not sent: 1.2 was withdrawn at <2026-03-01T12:00:00Z>.", old,
            releases: [release { $0.withdrawnAt = TestPolicy.noon }]
        ) { $0.target = "1.2" },
    ]

    static let sentences: [Case] = [
        Case("k is sent.") { _ in },
        Case("k is sent: 1.2 is available to this client.", old, releases: [release()]) { $0.target = "1.2" },
        Case("k is sent with the lockout: 1.2 is available to this client.", old, releases: [release()], lock),
        Case("k is sent with the lockout.") { rule in
            rule.lockout = true
            rule.lockoutWithoutUpdate = true
        },
        Case(
            "k is sent without the lockout: 1.2 needs iOS 15, but this client has 14.", old,
            releases: [release { $0.minOS = "15" }], lock
        ),
        Case(
            "k is sent without the lockout: 1.2 needs iOS 15, but the client sent no os that can be read.",
            ["version": "1.1", "platform": "ios"],
            releases: [TestPolicy.release("1.1"), release { $0.minOS = "15" }],
            lock
        ),
        Case(
            "k is sent without the lockout: 1.2 is for JP, US, but this client is in DE.", old,
            releases: [release { $0.regions = ["JP", "US"] }], lock
        ),
        Case(
            "k is sent without the lockout: 1.2 is for JP, but the client sent no region.",
            ["version": "1.1", "platform": "ios"], releases: [release { $0.regions = ["JP"] }], lock
        ),
        Case(
            "k is sent without the lockout: 1.2 is staged, so not everybody can get it.", old,
            releases: [release { $0.staged = true }], lock
        ),
        Case(
            "k is sent without the lockout: 1.2 has no date from which it is live.", old,
            releases: [release { $0.liveAt = nil }], lock
        ),
        Case(
            "k is sent without the lockout: 1.2 is live from <2026-03-01T13:00:00Z> on.", old,
            releases: [release { $0.liveAt = TestPolicy.hours(1) }], lock
        ),
        Case(
            "k is sent without the lockout: 1.2 is too new for this rule until <2026-03-02T12:00:00Z>.", old,
            releases: [release()]
        ) { rule in
            lock(&rule)
            rule.soak = DayTimeInterval("2 days")
        },
        Case(
            "k is sent without the lockout: the client sent no platform, so no update is known for it.",
            ["version": "1.1"], lock
        ),
        Case("k is sent without the lockout: no release for iOS is known for this client.", old, lock),
        Case(
            "k is sent without the lockout: the newest release for this client is 1.0, which is not newer than its 1.1.",
            old, releases: [TestPolicy.release("1.0")], lock
        ),
        Case(
            "k is sent without the lockout: 1.1.5, the newest release for this client, is locked out as well.", old,
            releases: [TestPolicy.release("1.1.5")], lock
        ),
        Case(
            "k is sent without the lockout: the client sent no version that can be read, so 1.2 may be what it has.",
            ["version": "x", "platform": "ios"], releases: [release()]
        ) { $0.lockout = true },
        Case("k is not sent: it is for ios, android, but this client is on web.", ["platform": "web"]) {
            $0.platforms = ["ios", "android"]
        },
        Case("k is not sent: it is for ios, but the client sent no platform.") { $0.platforms = ["ios"] },
        Case("k is not sent: it is for version <1.2 (before 1.2), but this client has 1.3.", ["version": "1.3"]) {
            $0.versions = "<1.2"
        },
        Case("k is not sent: it is for version <1.2 (before 1.2), but the client sent no version.") {
            $0.versions = "<1.2"
        },
        Case(
            "k is not sent: it is for version <1.2 (before 1.2), but this client has x (cannot be read as a version).",
            ["version": "x"]
        ) { $0.versions = "<1.2" },
        Case("k is not sent: it is for build 7, but this client has 8.", ["build": "8"]) { $0.builds = "7" },
        Case("k is not sent: it is for build 7, but the client sent no build.") { $0.builds = "7" },
        Case("k is not sent: it is for iOS <15, but this client has 16.", ["platform": "ios", "os": "16"]) {
            $0.os = "<15"
        },
        Case("k is not sent: it is for os <15, but the client sent no os.") { $0.os = "<15" },
        Case("k is not sent: it is for JP, but this client is in DE.", ["region": "DE"]) { $0.regions = ["JP"] },
        Case("k is not sent: it is for JP, but the client sent no region.") { $0.regions = ["JP"] },
        Case("k is not sent: it is for the language de, fr, but this client's is en.", ["language": "en"]) {
            $0.languages = ["de", "fr"]
        },
        Case("k is not sent: it is for the language de, but the client sent no language.") { $0.languages = ["de"] },
        Case("k is not sent: it asks for channel beta, but this client sent stable.", ["channel": "stable"]) {
            $0.attributes = [AttributeCondition(name: "channel", values: ["beta"])]
        },
        Case("k is not sent: it asks for channel beta, but the client did not send it.") {
            $0.attributes = [AttributeCondition(name: "channel", values: ["beta"])]
        },
        Case("k is not sent: its target is 1.2, and this client has 1.3.", ["version": "1.3"]) { $0.target = "1.2" },
        Case("k is not sent: its target is 1.2, but the client sent no version.") { $0.target = "1.2" },
        Case("k is not sent: its target is 1.2, but the client sent x (cannot be read as a version).", ["version": "x"])
        {
            $0.target = "1.2"
        },
        Case("k is not sent: 1.2 needs iOS 15, but this client has 14.", old, releases: [release { $0.minOS = "15" }]) {
            $0.target = "1.2"
        },
        Case("k is not sent: it waits for a release, but the client sent no platform.", ["version": "1.1"]) {
            $0.target = "1.2"
        },
        Case("k is not sent: its target is 1.2, and no release for iOS reaches it.", old) { $0.target = "1.2" },
        Case(
            "k is not sent: its target is 1.2, but the newest release for this client is 1.1.", old,
            releases: [TestPolicy.release("1.1")]
        ) { $0.target = "1.2" },
        Case("k is not sent: it starts at <2026-03-01T14:00:00Z>.") { $0.startsAt = TestPolicy.hours(2) },
        Case("k is not sent: it ended at <2026-03-01T11:00:00Z>.") { $0.endsAt = TestPolicy.hours(-1) },
        Case("k is not sent: the client sent no install, and the rollout is 25 %.") { quarter(&$0) },
        Case("k is not sent: the rollout is 0 %.") { $0.rollout = .zero },
        Case("k is not sent: the rollout is 0 %, held since <2026-03-01T11:00:00Z>.") {
            $0.rollout = .zero
            $0.steps = [RolloutStep(at: TestPolicy.hours(-1, microseconds: 1), rollout: .all)]
            $0.heldAt = TestPolicy.hours(-1)
        },
        Case(
            "k is not sent: the rollout is 25 %; this installation is not included until the rollout passes 58.65 %.",
            ["install": "a"], quarter
        ),
        Case("k is not sent: it is disabled.") { $0.enabled = false },
        Case(
            "k is not sent: the app is paused.",
            app: App(bundle: TestPolicy.bundle) {
                $0.paused = true
            }
        ) { _ in },
    ]

    @Test(
        "An explanation is one sentence, which says what is asked for, what the client has, and how that is read where the outcome hangs on it",
        arguments: sentences + readings
    )
    func says(example: Case) throws {
        let (client, explanations) = try example.explanations()
        #expect(explanations.map { $0.sentence(for: client) { "<\($0)>" } } == [example.sentence])
    }

    @Test("The sentences cover every outcome and every condition")
    func areComplete() throws {
        let explanations = try Self.sentences.flatMap { try $0.explanations().explanations }
        #expect(Set(explanations.compactMap(\.unmet)) == Set(Condition.allCases))
        #expect(Set(explanations.map(\.outcome)).union([.afterAFinalRule]) == Set(Explanation.Outcome.allCases))
        #expect(Set(explanations.compactMap(\.obstacle).compactMap { $0.label?.split(separator: " ")[1] }).count >= 6)
    }

    @Test("What the client gets comes first, then what a final rule stopped, then the rules that came closest")
    func isOrdered() throws {
        let policy = try TestPolicy.policy([
            TestPolicy.rule("a-version") { $0.versions = ">5" }, TestPolicy.rule("b-off") { $0.enabled = false },
            TestPolicy.rule("c-sent"), TestPolicy.rule("d-final") { $0.final = true }, TestPolicy.rule("e-after"),
            TestPolicy.rule("f-version") { $0.versions = ">6" },
        ])
        let client = try TestPolicy.client(["version": "1"])
        let explanations = Explanation.decidingFirst(policy.explain(client, at: TestPolicy.noon))
        #expect(explanations.map(\.key) == ["c-sent", "d-final", "e-after", "b-off", "a-version", "f-version"])
        #expect(
            explanations[2].sentence(for: client) { "\($0)" }
                == "e-after is not sent: d-final comes before it and is final."
        )
    }
}
