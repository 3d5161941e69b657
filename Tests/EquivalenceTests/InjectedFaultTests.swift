import Postgres
import TestDatabase
import TestPolicies
import TestRandom
import Testing
import UpdatePolicy

@Suite("Injected faults", .long, .migratedDatabase)
struct InjectedFaultTests {
    /// How many pairs are tried at most before a fault counts as not found.
    private static let mostPairs = 12_000

    /// From where a whole run looks for each fault. Others begin where it is found soon, and shrink what they find to the
    /// smallest policy and client for the first fault alone.
    private static let commonSeed: UInt64 = 20_260_301

    // One session looks for all of them: each other one would plan everything anew.
    @Test("Each fault injected into SQL is found")
    func inSQL() async throws {
        let connection = try await TestDatabase.current.connect()
        try await connection.withSession { session in
            let comparison = Comparison(specification: SpecificationSession(session: session))
            for (number, fault) in SpecificationFault.all.enumerated() {
                let found = try fault.inject(session) { try find(comparison, seed: fault.seed, shrinks: number == 0) }
                report(fault.description, found)
            }
        }
    }

    @Test("Each fault injected into the engine is found")
    func inEngine() async throws {
        let connection = try await TestDatabase.current.connect()
        try await connection.withSession { session in
            var comparison = Comparison(specification: SpecificationSession(session: session))
            for (number, fault) in EngineFault.all.enumerated() {
                comparison.policyForEngine = { $0.with(fault.policy) }
                comparison.clientForEngine = { client in
                    var changed = client
                    fault.client(&changed)
                    return changed
                }
                report(fault.description, try find(comparison, seed: fault.seed, shrinks: number == 0))
            }
        }
    }

    private func find(_ comparison: Comparison, seed: UInt64, shrinks: Bool) throws -> Comparison.Outcome {
        var outcome = try comparison.run(
            seed: Trials.areLong ? Self.commonSeed : seed, pairs: Self.mostPairs, checksPerPolicy: 40
        )
        if Trials.areLong || shrinks {
            outcome.disagreement = try outcome.disagreement.map(Shrinker(comparison: comparison).shrink)
            expectSmall(outcome.disagreement)
        }
        return outcome
    }

    private func expectSmall(_ disagreement: Disagreement?) {
        guard let disagreement else { return }
        #expect(disagreement.policy.rules.count <= 2, "\(disagreement)")
        #expect(disagreement.policy.releases.count <= 3, "\(disagreement)")
        #expect(disagreement.check.client.members.count <= 6, "\(disagreement)")
    }

    private func report(_ fault: String, _ outcome: Comparison.Outcome) {
        #expect(outcome.disagreement != nil, "\(fault): not found within \(outcome.pairs) pairs")
        print("Looked for the fault that \(fault) in \(outcome.pairs) pairs")
    }
}
