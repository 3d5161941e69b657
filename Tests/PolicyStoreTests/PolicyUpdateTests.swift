import Postgres
import TestDatabase
import TestRandom
import Testing
import UpdatePolicy

@testable import PolicyStore

@Suite("Policy updates", .migratedDatabase)
struct PolicyUpdateTests {
    private static let policy = """
        INSERT INTO apps (bundle) VALUES ('a'), ('b'), ('c');
        INSERT INTO rules (key, bundle, title, text)
        VALUES ('a1', 'a', 't', 'x'), ('b1', 'b', 't', 'x'), ('c1', 'c', 't', 'x'), ('all', NULL, 't', 'x');
        INSERT INTO releases (bundle, platform, version) VALUES ('b', 'ios', '1'), ('c', 'ios', '1');
        INSERT INTO release_notes SELECT id, 'und', 'x' FROM releases WHERE bundle = 'c';
        """

    private func changed(by edit: String) async throws -> PolicyUpdate? {
        let admin = try await TestDatabase.current.connect()
        if try await admin.query("SELECT count(*) FROM apps").value(as: Int.self) == 0 {
            try await admin.execute(Self.policy)
        }
        let before = try await admin.withSession { try PolicyReader.version($0) }
        try await admin.execute(edit)
        let server = try await TestDatabase.current.connect(user: "versiongate_server")
        return try await PolicyReader.update(server, since: before)
    }

    @Test(
        "An update reads the rows of the apps that it was about, and no others",
        arguments: [
            ("UPDATE rules SET title = 'new' WHERE key = 'a1'", ["a"], false),
            ("UPDATE rules SET bundle = 'b' WHERE key = 'a1'", ["a", "b"], false),
            ("UPDATE rules SET bundle = NULL WHERE key = 'a1'", ["a"], true),
            ("UPDATE rules SET title = 'new' WHERE key = 'all'", [], true),
            ("INSERT INTO rule_texts VALUES ('b1', 'de', 't', 'x')", ["b"], false),
            ("INSERT INTO rollout_steps VALUES ('c1', '2026-01-01Z', 5)", ["c"], false),
            ("DELETE FROM apps WHERE bundle = 'b'", ["b"], false),
            ("UPDATE apps SET bundle = 'A' WHERE bundle = 'a'", ["A", "a"], false),
            ("INSERT INTO store_links VALUES ('c', 'ios', 'https://example.com')", ["c"], false),
            ("INSERT INTO releases (bundle, platform, version) VALUES ('a', 'ios', '1')", ["a"], false),
            ("INSERT INTO release_notes SELECT id, 'de', 'x' FROM releases WHERE bundle = 'b'", ["b"], false),
            ("UPDATE release_notes SET text = 'y' WHERE language = 'und'", ["c"], false),
            ("DELETE FROM release_notes", ["c"], false),
            ("DELETE FROM releases WHERE bundle = 'c'", ["c"], false),
            ("INSERT INTO feed_templates VALUES ('a', 'v', 'text/plain', 'x')", ["a"], false),
            ("UPDATE apps SET store_id = 7 WHERE bundle = 'b'", ["b"], false),
            (
                "UPDATE apps SET paused = true WHERE bundle = 'a'; UPDATE apps SET paused = true WHERE bundle = 'c'",
                ["a", "c"], false
            ),
            ("UPDATE rules SET title = title", [], false),
        ] as [(String, [String], Bool)]
    )
    func readsWhatChanged(edit: String, bundles: [String], everyApp: Bool) async throws {
        let update = try #require(try await changed(by: edit))
        #expect(update.bundles.sorted() == bundles)
        #expect(update.includesRulesForEveryApp == everyApp)
        let admin = try await TestDatabase.current.connect()
        let whole = try await PolicyReader.policy(admin)
        #expect(update.policy.revision == whole.revision)
        #expect(update.policy.token == whole.token)
        #expect(update.policy.apps == whole.apps.filter { bundles.contains($0.bundle) })
        #expect(update.policy.releases == whole.releases.filter { bundles.contains($0.bundle) })
        #expect(update.policy.rules == whole.rules.filter { $0.bundle.map(bundles.contains) ?? everyApp })
    }

    @Test("An update knows when the history does not go on from what a server has")
    func knowsWhatItDoesNotKnow() async throws {
        let database = try await TestDatabase.current.connect()
        try await database.execute(Self.policy)
        let known = try await database.withSession { try PolicyReader.version($0) }
        // Another history with the same numbers, as after a restore.
        let other = PolicyVersion(revision: known.revision, token: "00000000-0000-0000-0000-000000000000")
        #expect(try await PolicyReader.update(database, since: other) == nil)
        #expect(try await PolicyReader.update(database, since: PolicyVersion(revision: 99, token: known.token)) == nil)
        // An edit that went around the triggers, as superusers can.
        try await database.execute(
            """
            SET session_replication_role = replica;
            UPDATE rules SET title = 'behind the back';
            UPDATE policy_revision SET token = gen_random_uuid();
            """
        )
        #expect(try await PolicyReader.update(database, since: known) == nil)
    }

    @Test("An update reads everything where thousands of rows were changed", .whole)
    func readsEverything() async throws {
        let edit = "INSERT INTO apps (bundle) SELECT 'many.' || n FROM generate_series(1, 5001) AS n"
        #expect(try await changed(by: edit) == nil)
    }

    @Test("Any edits, read one by one, make the policy that is read at once")
    func anyEdits() async throws {
        var generator = SystemRandomNumberGenerator()
        let admin = try await TestDatabase.current.connect(user: "versiongate_admin")
        let server = try await TestDatabase.current.connect(user: "versiongate_server")
        try await admin.execute(Self.policy)
        var policy = try CompiledPolicy(try await PolicyReader.policy(server))
        var accepted = 0
        var edits: [String] = []
        for round in 0..<150 {
            let app = ["'a'", "'b'", "'c'", "NULL"].randomElement(using: &generator) ?? "NULL"
            let key = "'k\(Int.random(in: 0..<12, using: &generator))'"
            let edit =
                [
                    "INSERT INTO rules (key, bundle, title, text) VALUES (\(key), \(app), 't', 'x')",
                    "UPDATE rules SET title = 'round \(round)', position = \(round % 5) WHERE key = \(key)",
                    "UPDATE rules SET bundle = \(app), key = key WHERE key = \(key)",
                    "DELETE FROM rules WHERE key = \(key)",
                    "INSERT INTO rule_texts VALUES (\(key), 'de', 'round \(round)', 'x')",
                    "DELETE FROM rule_texts WHERE rule = \(key)",
                    "INSERT INTO rollout_steps VALUES (\(key), now(), \(round % 100))",
                    "INSERT INTO releases (bundle, platform, version) VALUES (\(app), 'ios', '\(round)')",
                    "DELETE FROM releases WHERE bundle = \(app) AND id % 3 = 0",
                    "UPDATE apps SET name = 'round \(round)' WHERE bundle = \(app)",
                    "INSERT INTO apps (bundle) VALUES (\(app))",
                    "DELETE FROM apps WHERE bundle = \(app) AND \(round) % 4 = 0",
                ].shuffled(using: &generator).prefix(Int.random(in: 1...3, using: &generator)).joined(separator: "; ")
            do {
                try await admin.execute(edit)
            } catch let error as PostgresError where error.code == .server {
                continue
            }
            accepted += 1
            edits.append(edit)
            // Sometimes a server sees several changes at once.
            if Int.random(in: 0..<3, using: &generator) == 0 { continue }
            let known = PolicyVersion(revision: policy.revision, token: policy.token)
            let update = try #require(try await PolicyReader.update(server, since: known))
            policy = try policy.updated(with: update)
            let whole = try CompiledPolicy(try await PolicyReader.policy(server)).policy
            try #require(policy.policy == whole, "after \(edits.suffix(5))")
        }
        #expect(accepted > 20)
    }
}
