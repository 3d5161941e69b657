import Postgres
import TestDatabase
import TestRandom
import Testing

/// Two people who edit at once; the rest is in `Tests/Cases/sql/revision.case`.
@Suite("Revision", .migratedDatabase)
struct RevisionTests {
    @Test("The revision rises in many rounds of two people who edit different rules, without a deadlock")
    func doesNotDeadlock() async throws {
        let database = TestDatabase.current
        let first = try await database.connect(user: "versiongate_admin")
        let second = try await database.connect(user: "versiongate_admin")
        try await first.execute("INSERT INTO rules (key, title, text) VALUES ('x', 't', 'x'), ('y', 't', 'x')")
        let rounds = Trials.count(1_000)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (connection, mine, theirs) in [(first, "x", "y"), (second, "y", "x")] {
                group.addTask {
                    for round in 0..<rounds / 2 {
                        try await connection.execute(
                            """
                            BEGIN; UPDATE rules SET note = '\(round)' WHERE key = '\(mine)';
                            SELECT count(*) FROM rules WHERE key = '\(theirs)'; COMMIT
                            """
                        )
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(
            try await first.query("SELECT revision FROM policy_revision").value(as: Int64.self) == 1 + Int64(rounds)
        )
    }
}
