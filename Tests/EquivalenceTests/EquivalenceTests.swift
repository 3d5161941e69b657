import Postgres
import TestDatabase
import TestPolicies
import TestRandom
import Testing

@Suite("Equivalence", .migratedDatabase)
struct EquivalenceTests {
    @Test(
        "SQL and the engine answer random clients alike, in messages, bytes and explanations, and SQL judges every rule as it is",
        arguments: ComparisonSettings.parts
    )
    func randomPairs(part: Int) async throws {
        let settings = ComparisonSettings.current
        let seed = settings.generatorSeed(ofPart: part)
        let pairs = (settings.pairs + part) / ComparisonSettings.parts.count
        let clock = ContinuousClock()
        let start = clock.now
        let connection = try await TestDatabase.current.connect()
        let outcome = try await connection.withSession { session in
            let comparison = Comparison(specification: SpecificationSession(session: session))
            var outcome = try comparison.run(seed: seed, pairs: pairs, checksPerPolicy: 50)
            outcome.disagreement = try outcome.disagreement.map(Shrinker(comparison: comparison).shrink)
            return outcome
        }
        print(
            """
            Compared \(outcome.pairs) pairs of policy and client (\(outcome.policies) policies, \
            \(outcome.judgedRules) of rule and moment, \(outcome.writtenRows) rows written, \(outcome.refusedRows) refused) in \(clock.now - start), \
            VERSIONGATE_SEED=\(settings.seed(ofPart: part)), part \(part)
            \(outcome.coverage.summary)
            """
        )
        if let disagreement = outcome.disagreement {
            Issue.record("VERSIONGATE_SEED=\(settings.seed(ofPart: part)), part \(part)\n\(disagreement)")
        }
        #expect(outcome.contradiction == nil, "VERSIONGATE_SEED=\(settings.seed(ofPart: part)), part \(part)")
        #expect(outcome.pairs == pairs)
        #expect(outcome.judgedRules >= 5 * outcome.pairs)
        if settings.requiresCoverage(ofPart: part) {
            #expect(Coverage.required.subtracting(outcome.coverage.counts.keys) == [])
        }
    }
}
