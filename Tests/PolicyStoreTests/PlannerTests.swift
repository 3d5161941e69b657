import PolicyStore
import Postgres
import TestDatabase
import Testing

/// What somebody with the role of planners may try. The role of the tests belongs to the whole server, so that one test at
/// a time has it.
@Suite("Planners", .migratedDatabase, .serialized)
struct PlannerTests {
    private static let example = """
        INSERT INTO apps (bundle) VALUES ('a');
        INSERT INTO rules (key, bundle, title, text, versions, enabled) VALUES ('k', 'a', 't', 'x', '<1.2', true);
        """

    @Test(
        "Planners commit nothing that they edited, also if their rights were changed since",
        arguments: [
            "SELECT", "REVOKE versiongate_planner FROM test_bob", "GRANT versiongate_admin TO test_bob",
            "REVOKE versiongate_planner FROM test_bob; GRANT versiongate_viewer TO test_bob",
            "REVOKE versiongate_planner FROM test_bob; DROP ROLE test_bob",
        ]
    )
    func plannersStayPlanners(change: String) async throws {
        let owner = try await TestDatabase.current.connect()
        try await owner.execute(Self.example)
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
                    session.hold { try await owner.execute(change) }
                }
            }
            #expect(try await owner.query(rules).value(as: String.self) == before)
            await planner.close()
        }
        try await owner.execute("DROP ROLE IF EXISTS test_bob")
    }

    @Test("Who has only read holds up a migration, and no edit")
    func readers() async throws {
        let reader = try await TestDatabase.current.connect(user: "versiongate_viewer")
        let owner = try await TestDatabase.current.connect()
        try await reader.transaction { session in
            try session.execute("SELECT FROM rules")
            session.hold { try await Self.expectReader("versiongate_viewer", owner) }
        }
    }

    private static func expectReader(_ role: String, _ owner: PostgresConnection) async throws {
        #expect(try await owner.withSession { try OpenEdit.all($0) }.isEmpty)
        #expect(try await owner.withSession { try OpenEdit.all($0, includesReaders: true) }.map(\.role) == [role])
    }
}
