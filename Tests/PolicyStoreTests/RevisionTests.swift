import Dispatch
import Postgres
import TestDatabase
import TestRandom
import TestSystem
import Testing

@testable import PolicyStore

@Suite("Revision", .migratedDatabase)
struct RevisionTests {
    private func rule(_ key: String) -> String {
        "INSERT INTO rules (key, title, text) VALUES ('\(key)', 't', 'x');"
    }

    private func revision(_ connection: PostgresConnection) async throws -> Int64 {
        try await connection.withSession { try PolicyReader.version($0) }.revision
    }

    private func changes(_ connection: PostgresConnection) async throws -> Int {
        try await connection.query("SELECT count(*) FROM changes").value()
    }

    @Test("The revision rises by one for a transaction with several edits, which is one change")
    func risesOncePerTransaction() async throws {
        let admin = try await TestDatabase.current.connect(user: "versiongate_admin")
        try await admin.execute("BEGIN; INSERT INTO apps (bundle) VALUES ('a'); \(rule("x")) \(rule("y")) COMMIT")
        #expect(try await revision(admin) == 1)
        #expect(try await changes(admin) == 1)
    }

    @Test("The revision gets a new token with each change")
    func getsANewToken() async throws {
        let admin = try await TestDatabase.current.connect(user: "versiongate_admin")
        let before = try await admin.withSession { try PolicyReader.version($0) }
        try await admin.execute(rule("x"))
        let after = try await admin.withSession { try PolicyReader.version($0) }
        #expect(before.token != after.token)
    }

    @Test(
        "The revision stays for edits that change nothing",
        arguments: [
            "UPDATE rules SET title = 'u' WHERE false", "UPDATE rules SET title = title",
            "BEGIN; UPDATE rules SET title = 'u'; ROLLBACK",
        ]
    )
    func staysWhenNothingChanges(_ sql: String) async throws {
        let admin = try await TestDatabase.current.connect(user: "versiongate_admin")
        try await admin.execute(rule("x"))
        try await admin.execute(sql)
        #expect(try await revision(admin) == 1)
        #expect(try await changes(admin) == 1)
    }

    @Test("The revision counts only what survives a rollback to a savepoint")
    func countsWhatSurvives() async throws {
        let admin = try await TestDatabase.current.connect(user: "versiongate_admin")
        try await admin.execute("BEGIN; \(rule("x")) SAVEPOINT s; \(rule("y")) ROLLBACK TO s; COMMIT")
        #expect(try await revision(admin) == 1)
        #expect(try await admin.query("SELECT count(*) FROM change_rows").value(as: Int.self) == 1)
    }

    @Test("The revision is taken back with its token where immediate edits come to nothing, and can be made anew")
    func isTakenBack() async throws {
        let admin = try await TestDatabase.current.connect(user: "versiongate_admin")
        let empty = try await admin.withSession { try PolicyReader.version($0) }
        let nothing = "BEGIN; SET CONSTRAINTS ALL IMMEDIATE; \(rule("y")) DELETE FROM rules WHERE key = 'y';"
        try await admin.execute("\(nothing) COMMIT")
        #expect(try await admin.withSession { try PolicyReader.version($0) } == empty)

        try await admin.execute(rule("x"))
        let before = try await admin.withSession { try PolicyReader.version($0) }
        try await admin.execute(
            """
            BEGIN; SET CONSTRAINTS ALL IMMEDIATE;
            UPDATE rules SET position = 5, note = 'n'; UPDATE rules SET position = 0; UPDATE rules SET note = NULL; COMMIT
            """
        )
        #expect(try await admin.withSession { try PolicyReader.version($0) } == before)
        #expect(try await changes(admin) == 1)

        try await admin.execute("\(nothing) UPDATE rules SET title = 'u'; COMMIT")
        #expect(try await revision(admin) == 2)
        #expect(try await changes(admin) == 2)
        #expect(
            try await admin.query(
                "SELECT p.token = c.token FROM policy_revision AS p JOIN changes AS c ON c.id = p.revision"
            )
            .value(as: Bool.self)
        )
    }

    /// Edits that come to the same whenever they are recorded, and what the history says of them.
    static let ways: [(script: String, edits: String)] = [
        (
            "UPDATE rollout_steps SET at = '2030-01-05Z'; UPDATE rollout_steps SET at = '2031-01-01Z'",
            """
            removed rollout_steps x 2030-01-01T00:00:00+00:00: rollout 5
            added rollout_steps x 2031-01-01T00:00:00+00:00: rollout 5
            """
        ),
        ("UPDATE apps SET bundle = 'A'; UPDATE apps SET name = 'B'", "apps A: bundle a -> A, name - -> B"),
        ("UPDATE apps SET bundle = 'A'; DELETE FROM apps", "removed apps a"),
        ("DELETE FROM apps; INSERT INTO apps (bundle, name) VALUES ('a', 'A')", "apps a: name - -> A"),
        (
            "INSERT INTO apps (bundle) VALUES ('b'); UPDATE apps SET name = 'B' WHERE bundle = 'b'",
            "added apps b: name B"
        ),
    ]

    @Test(
        "The revision counts what a transaction comes to, whenever its edits are recorded", arguments: ways,
        ["DEFERRED", "IMMEDIATE"]
    )
    func countsTheOutcome(_ way: (script: String, edits: String), _ mode: String) async throws {
        let admin = try await TestDatabase.current.connect(user: "versiongate_admin")
        try await admin.execute(
            """
            BEGIN; \(rule("x")) INSERT INTO rollout_steps VALUES ('x', '2030-01-01Z', 5);
            INSERT INTO apps (bundle) VALUES ('a'); COMMIT
            """
        )
        func stepsAndApps(_ source: (_ table: String) -> String) async throws -> String {
            try await admin.query(
                """
                SELECT concat(
                    (SELECT jsonb_agg(s) FROM \(source("rollout_steps")) AS s), (SELECT jsonb_agg(a) FROM \(source("apps")) AS a))
                """
            ).value(as: String.self)
        }
        let before = try await stepsAndApps { $0 }
        try await admin.execute("BEGIN; SET CONSTRAINTS ALL \(mode); \(way.script); COMMIT")
        #expect(try await admin.query("SELECT edits FROM history LIMIT 1").value(as: String.self) == way.edits)
        #expect(try await stepsAndApps { "rows_at(NULL::\($0), 1)" } == before)
        #expect(try await revision(admin) == 2)
        let owner = try await TestDatabase.current.connect()
        #expect(try await owner.query("SELECT count(*) FROM versiongate_internal.edited_rows").value(as: Int.self) == 0)
    }

    @Test("The revision is taken at the commit, so a transaction that is left open blocks nobody")
    func isTakenAtCommit() async throws {
        let database = TestDatabase.current
        let idle = try await database.connect(user: "versiongate_admin")
        let other = try await database.connect(user: "versiongate_admin")
        try await other.execute(rule("x") + rule("y"))
        let before = try await revision(other)
        try await idle.withSession { session in
            try session.execute("BEGIN; UPDATE rules SET title = 'idle' WHERE key = 'x'")
            let committed = DispatchSemaphore(value: 0)
            Task {
                try await other.execute("UPDATE rules SET title = 'other' WHERE key = 'y'")
                committed.signal()
            }
            #expect(committed.wait(timeout: .now() + .seconds(Patience.seconds)) == .success)
            try session.execute("COMMIT")
        }
        #expect(try await revision(other) == before + 2)
    }

    @Test("The revision rises in many rounds of two people who edit different rules, without a deadlock")
    func doesNotDeadlock() async throws {
        let database = TestDatabase.current
        let first = try await database.connect(user: "versiongate_admin")
        let second = try await database.connect(user: "versiongate_admin")
        try await first.execute(rule("x") + rule("y"))
        let before = try await revision(first)
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
        #expect(try await revision(first) == before + Int64(rounds))
    }

    @Test("The revision is told to listeners by name and number")
    func isNotified() async throws {
        let database = TestDatabase.current
        let listener = try await database.connect(user: "versiongate_server")
        try await listener.listen("versiongate")
        let admin = try await database.connect(user: "versiongate_admin")
        try await admin.execute(rule("x"))
        let notifications = try await listener.notifications(waitingUpTo: Patience.limit)
        #expect(notifications.map(\.payload) == ["1"])
    }
}
