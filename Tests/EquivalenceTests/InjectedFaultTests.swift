// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Postgres
import TestDatabase
import TestPolicies
import TestRandom
import Testing
import UpdatePolicy

@Suite("Injected faults", .migratedDatabase)
struct InjectedFaultTests {
    /// How many pairs are tried at most before a fault counts as not found.
    private static let mostPairs = 12_000

    /// From where a whole run looks for each fault. Others begin where it is found soon, and shrink what they find to the
    /// smallest policy and client for the first fault alone.
    private static let commonSeed: UInt64 = 20_260_301

    @Test("A fault injected into SQL is found", arguments: SpecificationFault.all)
    func inSQL(fault: SpecificationFault) async throws {
        let connection = try await TestDatabase.current.connect()
        let found = try await connection.withSession { session in
            try fault.inject(session)
            let comparison = Comparison(specification: SpecificationSession(session: session))
            return try find(
                comparison,
                seed: fault.seed,
                shrinks: fault.testDescription == SpecificationFault.all[0].testDescription
            )
        }
        report(fault.testDescription, found)
    }

    @Test("A fault injected into the engine is found", arguments: EngineFault.all)
    func inEngine(fault: EngineFault) async throws {
        let connection = try await TestDatabase.current.connect()
        let found = try await connection.withSession { session in
            var comparison = Comparison(specification: SpecificationSession(session: session))
            comparison.policyForEngine = { $0.with(fault.policy) }
            comparison.clientForEngine = { client in
                var changed = client
                fault.client(&changed)
                return changed
            }
            return try find(
                comparison,
                seed: fault.seed,
                shrinks: fault.testDescription == EngineFault.all[0].testDescription
            )
        }
        report(fault.testDescription, found)
    }

    private func find(_ comparison: Comparison, seed: UInt64, shrinks: Bool) throws -> Comparison.Outcome {
        var outcome = try comparison.run(
            seed: Trials.isWhole ? Self.commonSeed : seed,
            pairs: Self.mostPairs,
            checksPerPolicy: 40
        )
        if Trials.isWhole || shrinks {
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
