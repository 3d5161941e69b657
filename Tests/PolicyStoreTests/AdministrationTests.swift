import Postgres
import TestDatabase
import Testing
import UpdatePolicy

@testable import PolicyStore

/// What people see who administer in SQL.
@Suite("Administration views", .migratedDatabase)
struct AdministrationTests {
    @Test("The views tell in the history what a row held that was added or removed")
    func contentsInTheHistory() async throws {
        let admin = try await TestDatabase.current.connect(user: "versiongate_admin")
        try await admin.execute("INSERT INTO apps (bundle, name) VALUES ('a', 'Doto')")
        try await admin.execute(
            """
            INSERT INTO rules (key, bundle, title, text, versions, rollout, enabled, note)
            VALUES ('k', 'a', 't', 'x', '<1.2', 0, true, repeat('n', 300))
            """
        )
        try await admin.execute("INSERT INTO rollout_steps VALUES ('k', '2030-01-01Z', 100)")
        try await admin.execute("UPDATE rules SET title = 'u'")
        try await admin.execute("DELETE FROM rules")
        let edits = try await admin.query("SELECT edits FROM history ORDER BY change")
            .map { try $0.decode(0, as: String.self) }
        let note = String(repeating: "n", count: 199) + "…"
        #expect(
            edits.prefix(4) == [
                "added apps a: name Doto",
                "added rules k: bundle a, enabled true, note \(note), rollout 0, text x, title t, versions <1.2",
                "added rollout_steps k 2030-01-01T00:00:00+00:00: rollout 100",
                "rules k: title t -> u",
            ]
        )
        #expect(
            Set(edits.last?.split(separator: "\n") ?? []) == [
                "removed rules k: bundle a, enabled true, note \(note), rollout 0, text x, title u, versions <1.2",
                "removed rollout_steps k 2030-01-01T00:00:00+00:00: rollout 100",
            ]
        )
    }

    @Test("The views list a release as withdrawn that was withdrawn before it would be live")
    func withdrawnBeforeItIsLive() async throws {
        let admin = try await TestDatabase.current.connect(user: "versiongate_admin")
        try await admin.execute(
            """
            INSERT INTO apps (bundle) VALUES ('a');
            INSERT INTO releases (bundle, platform, version, live_at) VALUES ('a', 'ios', '1', '2099-01-01Z');
            """
        )
        let id = try await admin.query("SELECT id FROM releases").value(as: Int64.self)
        let time = try #require(Timestamp("2026-03-01T12:00:00Z"))
        let change = try await PolicyEditing(admin, logger: TestDatabase.logger)
            .edit(by: EditAuthor(osUser: nil, why: nil)) { editor in
                try editor.withdraw(id, at: time)
            }
        #expect(change?.rows.count == 1)
        let states = try await admin.transaction(.repeatableReadReadOnly) { session in
            try PolicyReports(session).releases(bundle: "a").map { "\($0.state) \($0.since?.description ?? "")" }
        }
        #expect(states == ["withdrawn 2099-01-01T00:00:00Z"])
    }

    @Test("The views do not count an hour as recent that a server's clock put ahead")
    func hoursAhead() async throws {
        let owner = try await TestDatabase.current.connect()
        try await owner.execute(
            """
            INSERT INTO check_counts VALUES (date_trunc('hour', now()), 'a', 'ios', '1', NULL, NULL, NULL, 3, 0, 0),
                ('2099-01-01Z', 'a', 'ios', '1', NULL, NULL, NULL, 5, 0, 0)
            """
        )
        let checks = try await owner.query("SELECT sum(checks)::int8 FROM recent_checks WHERE period = '24 hours'")
        #expect(try checks.value(as: Int64.self) == 3)
    }

    @Test("The views and all tables can be published for everything that follows them")
    func canBePublished() async throws {
        let owner = try await TestDatabase.current.connect()
        try await owner.execute(
            """
            CREATE PUBLICATION everything FOR ALL TABLES;
            INSERT INTO check_counts VALUES ('2026-03-01T12:00Z', NULL, NULL, NULL, NULL, NULL, NULL, 3, 0, 0)
                ON CONFLICT ON CONSTRAINT check_counts_key DO NOTHING;
            UPDATE check_counts SET checks = 4;
            INSERT INTO apps (bundle) VALUES ('a');
            INSERT INTO store_links VALUES ('a', 'ios', 'https://example.com/');
            INSERT INTO releases (bundle, platform, version) VALUES ('a', 'ios', '1');
            INSERT INTO release_notes SELECT id, 'und', 'x' FROM releases;
            INSERT INTO feed_templates VALUES ('a', 'v', 'text/plain', 'x');
            INSERT INTO rules (key, bundle, title, text) VALUES ('k', 'a', 't', 'x');
            INSERT INTO rule_texts VALUES ('k', 'de', 't', 'x');
            INSERT INTO rollout_steps VALUES ('k', '2030-01-01Z', 100);
            UPDATE apps SET bundle = 'A';
            UPDATE rollout_steps SET at = '2031-01-01Z';
            DELETE FROM check_counts;
            """
        )
        try await owner.execute("DELETE FROM apps")
        #expect(try await owner.query("SELECT count(*) FROM changes").value(as: Int.self) == 2)
    }
}
