import Dispatch
import PolicyStore
import Postgres
import TestDatabase
import Testing

/// What somebody with the role of planners may try. The role of the tests belongs to the whole server, so that one test at
/// a time has it.
@Suite("Planners", .migratedDatabase, .serialized)
struct PlannerTests {
    /// Ways in which a planner may try to commit an edit.
    static let commits = [
        "UPDATE rules SET title = 'z'",
        "BEGIN; UPDATE rules SET title = 'z'; COMMIT",
        "BEGIN; UPDATE rules SET title = 'z'; SET CONSTRAINTS ALL IMMEDIATE; COMMIT",
        "BEGIN; SET CONSTRAINTS ALL IMMEDIATE; UPDATE rules SET title = 'z'; COMMIT",
        "BEGIN; UPDATE rules SET title = 'z'; SELECT rehearse_edits(); COMMIT",
        "BEGIN; UPDATE rules SET title = 'z'; SELECT rehearse_edits(); SET CONSTRAINTS ALL IMMEDIATE; COMMIT",
        "BEGIN; SAVEPOINT s; UPDATE rules SET title = 'z'; RELEASE s; SELECT rehearse_edits(); COMMIT",
        "BEGIN; UPDATE rules SET title = 'z'; SELECT rehearse_edits(); UPDATE rules SET title = 'u'; SELECT rehearse_edits(); UPDATE rules SET title = 'z'; COMMIT",
        "BEGIN ISOLATION LEVEL SERIALIZABLE; UPDATE rules SET title = 'z'; COMMIT",
        "BEGIN; UPDATE rules SET title = 'z'; PREPARE TRANSACTION 'z'",
        "DO 'BEGIN UPDATE rules SET title = ''z''; COMMIT; END'",
        "DO 'BEGIN UPDATE rules SET title = ''z''; BEGIN SET CONSTRAINTS ALL IMMEDIATE; EXCEPTION WHEN OTHERS THEN NULL; END; END'",
        "DO 'BEGIN UPDATE rules SET title = ''z''; PERFORM rehearse_edits(); BEGIN SET CONSTRAINTS ALL IMMEDIATE; EXCEPTION WHEN OTHERS THEN NULL; END; END'",
        "WITH edited AS (UPDATE rules SET title = 'z' RETURNING key) SELECT key FROM edited",
        "MERGE INTO rules USING apps ON rules.bundle = apps.bundle WHEN MATCHED THEN UPDATE SET title = 'z'",
        "BEGIN; DECLARE c CURSOR WITH HOLD FOR SELECT pg_temp.edit(); COMMIT",
        "SET ROLE versiongate_planner; UPDATE rules SET title = 'z'",
        "INSERT INTO apps (bundle) VALUES ('z')", "INSERT INTO store_links VALUES ('a', 'ios', 'https://z')",
        "UPDATE releases SET withdrawn_at = now()", "INSERT INTO rule_texts VALUES ('k', 'de', 'z', 'z')",
        "INSERT INTO rollout_steps VALUES ('k', now(), 5)", "DELETE FROM rules", "DELETE FROM apps",
        "SELECT undo_change(1)",
    ]

    @Test("Planners commit no edit, by whatever statement, function, cursor or prepared transaction")
    func plannersDoNotCommit() async throws {
        let owner = try await TestDatabase.current.connect()
        try await owner.execute("CREATE ROLE test_bob LOGIN IN ROLE versiongate_planner")
        try await owner.execute(RoleTests.example)
        let database = TestDatabase.current.name
        try await owner.execute("GRANT TEMPORARY ON DATABASE \(PostgresIdentifier(database)) TO test_bob")
        let before = try await RoleTests.everything(owner)
        let planner = try await TestDatabase.current.connect(user: "test_bob")
        try await planner.execute(
            """
            CREATE FUNCTION pg_temp.edit() RETURNS void LANGUAGE plpgsql AS 'BEGIN UPDATE public.rules SET title = ''z''; END'
            """
        )
        for script in Self.commits {
            let error = await #expect(throws: PostgresError.self, "\(script)") { try await planner.execute(script) }
            try await planner.execute("ROLLBACK; RESET ROLE")
            #expect(error?.sqlState == .insufficientPrivilege, "\(script): \(error?.message ?? "")")
            #expect(error?.constraint == "planner_guard", "\(script): \(error?.message ?? "")")
            #expect(error?.message == "test_bob may plan edits, and not make them")
            #expect(try await RoleTests.everything(owner) == before, "\(script)")
        }
        let copied = try await TestDatabase.current.psql("COPY apps (bundle) FROM STDIN;\nz\n\\.\n", user: "test_bob")
        #expect(copied.errors.contains("may plan edits"))

        // What it comes to in the end is what counts.
        try await planner.execute("BEGIN; UPDATE rules SET title = 'z'; UPDATE rules SET title = 'u'; ROLLBACK")
        try await planner.execute("UPDATE rules SET title = title; SELECT FROM rules FOR UPDATE")
        #expect(try await RoleTests.everything(owner) == before)
        await planner.close()
        try await owner.execute("DROP OWNED BY test_bob; DROP ROLE test_bob")
    }

    @Test(
        "Planners commit nothing that they edited before their rights were changed",
        arguments: [
            "REVOKE versiongate_planner FROM test_bob", "GRANT versiongate_admin TO test_bob",
            "REVOKE versiongate_planner FROM test_bob; GRANT versiongate_viewer TO test_bob",
            "REVOKE versiongate_planner FROM test_bob; DROP ROLE test_bob",
        ]
    )
    func plannersStayPlanners(change: String) async throws {
        let owner = try await TestDatabase.current.connect()
        try await owner.execute(RoleTests.example)
        let rules = "SELECT string_agg(r::text, ' ') FROM rules AS r"
        let before = try await owner.query(rules).value(as: String.self)
        for script in ["UPDATE rules SET title = 'z'", "UPDATE rules SET title = 'z'; SELECT rehearse_edits()"] {
            try await owner.execute(
                """
                DO 'BEGIN CREATE ROLE test_bob LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END';
                REVOKE versiongate_admin, versiongate_viewer FROM test_bob; GRANT versiongate_planner TO test_bob
                """
            )
            let planner = try await TestDatabase.current.connect(user: "test_bob")
            await #expect(throws: PostgresError.self, "\(script)") {
                try await planner.transaction { session in
                    try session.execute(script)
                    // The thread is the connection's own, and may wait.
                    let isDone = DispatchSemaphore(value: 0)
                    Task {
                        defer { isDone.signal() }
                        try await owner.execute(change)
                    }
                    isDone.wait()
                }
            }
            #expect(try await owner.query(rules).value(as: String.self) == before)
            await planner.close()
        }
        try await owner.execute("DROP ROLE IF EXISTS test_bob")
    }

    @Test(
        "Planners may hold up edits while their session lasts, which is named and can be ended, and mislead nobody by NOTIFY"
    )
    func plannersHoldLocks() async throws {
        let owner = try await TestDatabase.current.connect()
        try await owner.execute(RoleTests.example)
        let before = try await RoleTests.everything(owner)
        let planner = try await TestDatabase.current.connect(user: "versiongate_planner")
        try await planner.execute("NOTIFY versiongate, '4711'")
        #expect(try await RoleTests.everything(owner) == before)
        await #expect(throws: PostgresError.self) {
            try await planner.transaction { session in
                try session.execute("LOCK TABLE rules; UPDATE rules SET title = 'z'; SELECT rehearse_edits()")
                let isDone = DispatchSemaphore(value: 0)
                Task {
                    defer { isDone.signal() }
                    try await Self.editPast(holder: "versiongate_planner")
                }
                isDone.wait()
            }
        }
        #expect(try await owner.query("SELECT title FROM rules").value(as: String.self) == "v")
    }

    @Test("Who has only read holds up a migration, and no edit")
    func readers() async throws {
        let reader = try await TestDatabase.current.connect(user: "versiongate_viewer")
        let owner = try await TestDatabase.current.connect()
        try await reader.transaction { session in
            try session.execute("SELECT FROM rules")
            let isDone = DispatchSemaphore(value: 0)
            Task {
                defer { isDone.signal() }
                try await Self.expectReader("versiongate_viewer", owner)
            }
            isDone.wait()
        }
    }

    private static func expectReader(_ role: String, _ owner: PostgresConnection) async throws {
        #expect(try await OpenEdit.all(owner).isEmpty)
        #expect(try await OpenEdit.all(owner, includesReaders: true).map(\.role) == [role])
    }

    /// Edits as an admin, finds who holds the edit up, ends that session, and edits again.
    private static func editPast(holder: String) async throws {
        let admin = try await TestDatabase.current.connect(user: "versiongate_admin")
        let refusal = await #expect(throws: PostgresError.self) {
            try await admin.execute("SET lock_timeout = '1ms'; UPDATE rules SET title = 'v'")
        }
        #expect(refusal?.sqlState == .lockNotAvailable)
        let holding = try await OpenEdit.all(admin)
        #expect(holding.map(\.role) == [holder])
        #expect(try await admin.query("SELECT login FROM end_open_edits()").value(as: String.self) == holder)
        try await admin.execute("SET lock_timeout = '10s'; UPDATE rules SET title = 'v'")
    }
}
