import TestPolicies
import TestRandom
import UpdatePolicy

/// The comparison of SQL with the engine, check by check.
struct Comparison {
    let specification: SpecificationSession

    /// What the engine is given in place of what the database holds; changed to inject a fault.
    var policyForEngine: @Sendable (Policy) -> Policy = { $0 }
    /// What the engine is given in place of the client's members; changed to inject a fault.
    var clientForEngine: @Sendable (ClientDescription) -> ClientDescription = { $0 }

    /// What a comparison came to.
    struct Outcome: Sendable {
        var pairs = 0
        /// How many rules were judged at how many moments.
        var judgedRules = 0
        /// What a check said against the statuses.
        var contradiction: String?
        var policies = 0
        var refusedRows = 0
        var writtenRows = 0
        var coverage = Coverage()
        var disagreement: Disagreement?
    }

    /// At how many moments beside those of the checks the rules of a policy are judged.
    private static let momentsPerPolicy = 60

    /// Compares random policies and checks up to the first disagreement, which is not shrunk yet.
    func run(seed: UInt64, pairs: Int, checksPerPolicy: Int) throws -> Outcome {
        var outcome = Outcome()
        var policies = PolicyGenerator(seed: seed)
        while outcome.pairs < pairs, outcome.disagreement == nil, outcome.contradiction == nil {
            let scene = policies.scene()
            var generator = CheckGenerator(scene, seed: policies.seedForChecks())
            let checks = (0..<min(checksPerPolicy, pairs - outcome.pairs)).map { _ in generator.check() }
            try specification.withPolicy(scene.policy, timeZone: scene.timeZone) { written in
                outcome.refusedRows += written.refusedRows
                outcome.writtenRows += PolicyScript(written.accepted).rows.count
                let answers = try specification.answers(to: checks)
                for answer in answers { outcome.coverage.add(answer) }
                outcome.contradiction = answers.lazy.compactMap(\.contradiction).first
                outcome.disagreement = disagreement(written, scene.timeZone, checks, answers)
                guard outcome.disagreement == nil else { return }
                let moments = (0..<Self.momentsPerPolicy).map { _ in generator.time() }
                outcome.disagreement = try disagreement(written, scene.timeZone, moments)
                outcome.judgedRules += written.read.rules.count * (checks.count + moments.count)
            }
            outcome.policies += 1
            outcome.pairs += checks.count
        }
        return outcome
    }

    /// The first of some moments at which the oracle judges a rule otherwise than SQL.
    private func disagreement(
        _ written: SpecificationSession.Written,
        _ timeZone: String,
        _ moments: [Timestamp]
    ) throws -> Disagreement? {
        let oracle = StatusOracle(policyForEngine(written.read))
        for (moment, expected) in zip(moments, try specification.statuses(at: moments))
        where oracle.rows(at: moment) != expected {
            let check = Check(client: ["bundle": .text("com.example.doto")], time: moment)
            return disagreement(written, timeZone, [check], try specification.answers(to: [check]))
        }
        return nil
    }

    /// The first of some checks that the engine does not answer like SQL, or at which the oracle judges a rule otherwise.
    func disagreement(
        _ written: SpecificationSession.Written,
        _ timeZone: String,
        _ checks: [Check],
        _ answers: [Answer]
    ) -> Disagreement? {
        let policy = policyForEngine(written.read)
        let (compiled, oracle) = (Result { try CompiledPolicy(policy) }, StatusOracle(policy))
        for (check, expected) in zip(checks, answers) {
            let answer = Result {
                try Answer(compiled.get(), clientForEngine(check.client).client(), at: check.time, oracle)
            }.mapError { Disagreement.EngineFailure(description: "\($0)") }
            if case .success(expected) = answer { continue }
            return Disagreement(
                policy: written.accepted, timeZone: timeZone, check: check, specification: expected, engine: answer
            )
        }
        return nil
    }
}
