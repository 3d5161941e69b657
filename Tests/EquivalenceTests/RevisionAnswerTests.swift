import PolicyStore
import Postgres
import TestDatabase
import TestPolicies
import TestRandom
import Testing
import UpdatePolicy

@Suite("Policy revisions", .whole, .migratedDatabase)
struct RevisionAnswerTests {
    /// What was seen when a revision was the newest.
    private struct Moment: Sendable {
        let policy: Policy
        let answers: [Answer]
    }

    /// What some random edits came to.
    private struct Outcome: Sendable {
        var moments: [Int64: Moment] = [:]
        var refused: [String: Int] = [:]
        var undone = 0
    }

    @Test(
        "The policy at a revision is, after random edits, what was there and what was answered then",
        arguments: [0, 1, 2]
    )
    func isRebuilt(part: Int) async throws {
        let seed = ComparisonSettings.current.seed(ofPart: part) &+ UInt64(part)
        let checks = Self.checks(seed: seed)
        let edits = Trials.areLong ? 160 : part == 0 ? 60 : 16
        let connection = try await TestDatabase.current.connect()
        let outcome = try await connection.withSession { session in
            try Self.edit(session, checks, seed: seed, edits: edits)
        }
        let last = try #require(outcome.moments.keys.max())
        #expect(Set(outcome.moments.keys) == Set(0...last))

        // Other settings than those of the edits.
        let reader = try await TestDatabase.current.connect(user: "versiongate_admin")
        try await reader.execute(
            "SET TimeZone = 'America/New_York'; SET IntervalStyle = sql_standard; SET DateStyle = German"
        )
        for (revision, moment) in outcome.moments.sorted(by: { $0.key < $1.key }) {
            let policy = try await PolicyReader.policy(reader, revision: revision)
            let comment: Comment = "revision \(revision) of \(last), VERSIONGATE_SEED=\(seed), part \(part)"
            #expect(policy.revision == revision)
            #expect(policy.apps == moment.policy.apps, comment)
            #expect(policy.releases == moment.policy.releases, comment)
            #expect(policy.rules == moment.policy.rules, comment)
            let compiled = try CompiledPolicy(policy)
            for (check, expected) in zip(checks, moment.answers) {
                #expect(try Answer(compiled, check.client.client(), at: check.time) == expected, comment)
            }
        }
        // The first part has a seed of its own, so that chance fails nobody. An app that is removed has its rows refused from
        // then on, so a change of the random policies moves the share of what is refused.
        if part == 0 {
            #expect(last >= edits / 5, "\(outcome.refused) edits were refused")
            #expect(outcome.undone > 0)
            #expect(Set(outcome.moments.values.map(\.answers.description)).count >= 5)
        }
    }

    private static func edit(
        _ session: PostgresSession,
        _ checks: [Check],
        seed: UInt64,
        edits count: Int
    ) throws -> Outcome {
        let specification = SpecificationSession(session: session)
        var edits = RandomEdits(seed: seed)
        var outcome = Outcome()
        var revision: Int64 = 0
        _ = try session.query("SELECT setseed(0.5)")
        outcome.moments[0] = Moment(
            policy: try PolicyReader.policy(session),
            answers: try specification.answers(to: checks)
        )
        for _ in 0..<count {
            let script = edits.script(revision: revision)
            do throws(PostgresError) {
                try session.execute(script)
            } catch {
                guard error.code == .server else { throw error }
                try session.execute("ROLLBACK")
                outcome.refused[error.message, default: 0] += 1
                continue
            }
            let policy = try PolicyReader.policy(session)
            guard policy.revision != revision else { continue }
            revision = policy.revision
            outcome.moments[revision] = Moment(policy: policy, answers: try specification.answers(to: checks))
            if script.contains("SELECT undo_change") { outcome.undone += 1 }
        }
        return outcome
    }

    private static func checks(seed: UInt64) -> [Check] {
        var generator = PolicyGenerator(seed: seed)
        var checks = CheckGenerator(generator.scene(), seed: seed)
        return (0..<8).map { _ in checks.check() }
    }
}
