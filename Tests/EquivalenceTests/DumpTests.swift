import PolicyStore
import Postgres
import Subprocess
import TestDatabase
import TestPolicies
import TestRandom
import Testing
import UpdatePolicy

@Suite("Dumps", .whole, .migratedDatabase)
struct DumpTests {
    @Test("A dump restores into an empty database with the same rows, history and answers")
    func restores() async throws {
        let database = TestDatabase.current
        let original = try await database.connect()
        let scene = try #require(Self.scene())
        try await PolicyScript(scene.policy).write(to: original)

        let name = database.name + "_restored"
        try await original.execute("CREATE DATABASE \(PostgresIdentifier(name)) TEMPLATE template0")
        let url = database.url().replacing("/" + database.name, with: "/" + name)
        try await run("pg_dump \"$1\" | psql --no-psqlrc --quiet -v ON_ERROR_STOP=1 \"$2\"", database.url(), url)
        let restored = try await PostgresConnection.connect(
            PostgresConfiguration(connectionString: url),
            logger: TestDatabase.logger
        )

        var generator = CheckGenerator(scene, seed: 1)
        let checks = (0..<200).map { _ in generator.check() }
        let before = try await Self.contents(original, checks)
        let after = try await Self.contents(restored, checks)
        #expect(before.policy.rules.count >= 5)
        #expect(after.policy == before.policy)
        #expect(after.answers == before.answers)
        #expect(after.history == before.history)

        // What was restored can be edited: the guards and the record of changes came along.
        let error = await #expect(throws: PostgresError.self) {
            try await restored.execute("UPDATE rules SET versions = '1.2-1.4'")
        }
        #expect(error?.constraint == "rules_versions_check")
        try await restored.execute("UPDATE apps SET note = 'restored'")
        let revision = try await restored.query("SELECT revision FROM policy_revision").value(as: Int64.self)
        #expect(revision == before.policy.revision + 1)

        await restored.close()
        try await original.execute("DROP DATABASE \(PostgresIdentifier(name)) WITH (FORCE)")
    }

    /// The policy with the most rows of some random ones.
    private static func scene() -> PolicyGenerator.Scene? {
        var generator = PolicyGenerator(seed: 1)
        return (0..<40).map { _ in generator.scene() }.max {
            PolicyScript($0.policy).rows.count < PolicyScript($1.policy).rows.count
        }
    }

    private struct Contents: Sendable {
        let policy: Policy
        let answers: [Answer]
        let history: String
    }

    private static func contents(_ connection: PostgresConnection, _ checks: [Check]) async throws -> Contents {
        try await connection.withSession { session in
            let history = try session.query(
                """
                SELECT concat((SELECT string_agg(c::text, E'\\n' ORDER BY c.id) FROM changes AS c),
                    (SELECT string_agg(r::text, E'\\n' ORDER BY r.change, r.ordinal) FROM change_rows AS r))
                """
            )
            return Contents(
                policy: try PolicyReader.policy(session),
                answers: try SpecificationSession(session: session).answers(to: checks),
                history: try history.value(as: String.self)
            )
        }
    }

    private func run(_ script: String, _ arguments: String...) async throws {
        let result = try await Subprocess.run(
            .name("bash"), arguments: Arguments(["-o", "pipefail", "-c", script, "bash"] + arguments),
            output: .string(limit: 1 << 20), error: .string(limit: 1 << 20)
        )
        try #require(result.terminationStatus.isSuccess, "\(result.standardError)")
    }
}
