import TestPolicies
import Testing

@testable import UpdatePolicy

@Suite("Policy errors")
struct PolicyErrorTests {
    @Test(
        "A rule that means nothing is named with the reason",
        arguments: [
            (TestPolicy.rule("r") { $0.versions = "<1..2" }, "versions"),
            (TestPolicy.rule("r") { $0.builds = "" }, "builds"),
            (TestPolicy.rule("r") { $0.os = "1.2-1.4" }, "os"),
            (TestPolicy.rule("r") { $0.target = "abc" }, "target"),
            (TestPolicy.rule("r") { $0.regions = ["UK"] }, "UK"),
            (TestPolicy.rule("r") { $0.regions = [] }, "regions"),
            (TestPolicy.rule("r") { $0.platforms = [] }, "platforms"),
            (TestPolicy.rule("r") { $0.languages = [] }, "languages"),
            (TestPolicy.rule("r") { $0.attributes = [] }, "attributes"),
        ]
    )
    func rules(_ rule: Rule, _ reason: String) {
        do throws(PolicyError) {
            _ = try CompiledPolicy(Policy(revision: 1, token: "t", rules: [rule]))
            Issue.record("compiled")
        } catch {
            #expect(error.row == "rule r")
            #expect(error.reason.contains(reason))
        }
    }

    @Test("A release that means nothing is named with the reason")
    func releases() {
        for (release, reason) in [
            (TestPolicy.release("x"), "version"), (TestPolicy.release("1") { $0.build = "b" }, "build"),
            (TestPolicy.release("1") { $0.minOS = "?" }, "min_os"),
            (TestPolicy.release("1") { $0.regions = ["XX"] }, "XX"),
        ] {
            do throws(PolicyError) {
                _ = try CompiledPolicy(Policy(revision: 1, token: "t", releases: [release]))
                Issue.record("compiled")
            } catch {
                #expect(error.row == "release 1")
                #expect(error.reason.contains(reason))
            }
        }
    }

    @Test("An app or a rule that appears twice is refused, ASCII case of the app not counted")
    func duplicates() {
        #expect(throws: PolicyError(row: "app A.b", reason: "appears twice")) {
            try CompiledPolicy(Policy(revision: 1, token: "t", apps: [App(bundle: "a.B"), App(bundle: "A.b")]))
        }
        #expect(throws: PolicyError(row: "rule r", reason: "appears twice")) {
            let rules = [TestPolicy.rule("r"), TestPolicy.rule("q"), TestPolicy.rule("r") { $0.position = 5 }]
            return try CompiledPolicy(Policy(revision: 1, token: "t", rules: rules))
        }
    }
}
