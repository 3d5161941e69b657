import TestPolicies
import Testing
import UpdatePolicy

/// The sentences themselves are in `Tests/Cases/policies.txt`.
@Suite("Explanation sentences")
struct ExplanationSentenceTests {
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
