import TestPolicies
import Testing

@testable import UpdatePolicy

@Suite("Rule explanations")
struct RuleExplanationTests {
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
}
