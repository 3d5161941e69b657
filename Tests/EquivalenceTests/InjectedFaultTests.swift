// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Postgres
import TestDatabase
import Testing
import UpdatePolicy

@Suite("The comparison finds a fault", .migratedDatabase)
struct InjectedFaultTests {
    /// How many pairs are tried at most before a fault counts as not found.
    private static let mostPairs = 12_000

    @Test("Injected into SQL", arguments: SpecificationFault.all)
    func inSQL(fault: SpecificationFault) async throws {
        let connection = try await TestDatabase.current.connect()
        let found = try await connection.withSession { session in
            try fault.inject(session)
            return try find(Comparison(specification: SpecificationSession(session: session)))
        }
        report(fault.testDescription, found)
    }

    @Test("Injected into the engine", arguments: EngineFault.all)
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
            return try find(comparison)
        }
        report(fault.testDescription, found)
    }

    /// The outcome, its disagreement shrunk.
    private func find(_ comparison: Comparison) throws -> Comparison.Outcome {
        var outcome = try comparison.run(seed: 20_260_301, pairs: Self.mostPairs, checksPerPolicy: 40)
        outcome.disagreement = try outcome.disagreement.map(Shrinker(comparison: comparison).shrink)
        return outcome
    }

    private func report(_ fault: String, _ outcome: Comparison.Outcome) {
        guard let disagreement = outcome.disagreement else {
            Issue.record("\(fault): not found within \(outcome.pairs) pairs")
            return
        }
        print("Found that \(fault) within \(outcome.pairs) pairs")
        #expect(disagreement.policy.rules.count <= 2, "\(disagreement)")
        #expect(disagreement.policy.releases.count <= 3, "\(disagreement)")
        #expect(disagreement.check.client.members.count <= 6, "\(disagreement)")
    }
}
