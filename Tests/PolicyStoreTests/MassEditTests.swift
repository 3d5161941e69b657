import Postgres
import Synchronization
import TestDatabase
import TestRandom
import Testing

/// What edits of many rows read and wait for; the rest is in `Tests/Cases/sql/mass-edits.case`.
@Suite("Mass edits", .whole, .migratedDatabase)
struct MassEditTests {
    private static let rows = 1_000

    private func owner() async throws -> PostgresConnection {
        let owner = try await TestDatabase.current.connect()
        try await owner.execute(
            """
            INSERT INTO apps (bundle) VALUES ('a');
            INSERT INTO rules (key, bundle, title, text)
            SELECT 'r' || number, 'a', 't', 'x' FROM generate_series(1, \(Self.rows)) AS number
            """
        )
        return owner
    }

    @Test("An edit of many rows looks each note up by itself, also where statistics are made meanwhile")
    func readsEachNoteOnce() async throws {
        let owner = try await owner()
        // In a function, so that the plans of the session are made once, and anew after each ANALYZE.
        try await owner.execute(
            """
            CREATE FUNCTION edit_beside_statistics() RETURNS void LANGUAGE plpgsql AS $$
            BEGIN
                FOR part IN 0 .. 9 LOOP
                    UPDATE rules SET position = position + 1 WHERE right(key, 1) = part::text;
                    ANALYZE versiongate_internal.edited_rows;
                    UPDATE rules SET position = position + 1 WHERE right(key, 1) = part::text;
                END LOOP;
            END
            $$;
            ANALYZE versiongate_internal.edited_rows
            """
        )
        let read = """
            SELECT coalesce(sum(idx_tup_read), 0)::int8 + (SELECT coalesce(seq_tup_read, 0) FROM pg_stat_user_tables
                WHERE relname = 'edited_rows') FROM pg_stat_user_indexes WHERE relname = 'edited_rows'
            """
        try await owner.execute("SELECT pg_stat_force_next_flush()")
        let before = try await owner.query(read).value(as: Int64.self)
        try await owner.execute("SELECT edit_beside_statistics(); SELECT pg_stat_force_next_flush()")
        let after = try await owner.query(read).value(as: Int64.self)
        // A row is noted four times, summed up and taken; each is a few looks. Reading all notes for each would be a million.
        #expect(after - before <= Int64(20 * Self.rows))
    }

    @Test("An edit of many rows has recorded them all before it waits for the lock of commits")
    func holdsTheLockForNoRow() async throws {
        let owner = try await owner()
        let (error, room) = try await waiting(
            "UPDATE rules SET position = position + 1", for: ("SELECT FROM policy_revision FOR UPDATE", "ROLLBACK"),
            of: owner
        )
        #expect(error == nil)
        #expect(room[1] - room[0] >= Int64(Self.rows * 200))
        #expect(room[2] == room[1])
        let recorded = try await owner.query("SELECT count(*) FROM change_rows WHERE change = 2")
        #expect(try recorded.value(as: Int.self) == Self.rows)
    }

    @Test("An edit that was judged before the lock is judged again where another one has changed what it rests on")
    func isJudgedAgain() async throws {
        let owner = try await owner()
        try await owner.execute(
            "INSERT INTO releases (bundle, platform, version, live_at) VALUES ('a', 'ios', '2', '2026-01-01Z')"
        )
        // The other records its edit at once, so it holds the lock from there on.
        let (error, _) = try await waiting(
            "UPDATE rules SET versions = '<2', lockout = true, enabled = true",
            for: ("UPDATE releases SET withdrawn_at = now(); SET CONSTRAINTS ALL IMMEDIATE", "COMMIT"), of: owner
        )
        #expect(error?.constraint == "rules_lockout_guard")
        #expect(try await owner.query("SELECT count(*) FROM rules WHERE lockout").value(as: Int.self) == 0)
    }

    @Test("An edit is judged again only where the other one is about the same app", arguments: [("b", 1), ("a", 2)])
    func isJudgedOnce(_ otherApp: String, _ times: Int) async throws {
        let owner = try await owner()
        try await owner.execute(
            """
            INSERT INTO apps (bundle) VALUES ('b');
            INSERT INTO releases (bundle, platform, version, live_at)
            SELECT bundle, 'ios', '2', '2026-01-01Z' FROM apps
            """
        )
        // Values of a sequence are counted also by what is rolled back.
        try await owner.execute(
            """
            CREATE SEQUENCE judgements;
            CREATE OR REPLACE FUNCTION versiongate_internal.guard_placeholders(
                keys text[], OUT fault versiongate_internal.refusal
            ) LANGUAGE sql
            AS $$ SELECT nextval('public.judgements'); SELECT NULL::versiongate_internal.refusal $$
            """
        )
        let warnings = Mutex(0)
        let (error, _) = try await waiting(
            "UPDATE rules SET versions = '<2', lockout = true, enabled = true WHERE key = 'r1'",
            for: (
                "UPDATE releases SET note = 'x' WHERE bundle = '\(otherApp)'; SET CONSTRAINTS ALL IMMEDIATE", "COMMIT"
            ),
            of: owner,
            onNotice: { notice in
                if notice.constraint == "rules_link_missing" { warnings.withLock { $0 += 1 } }
            }
        )
        #expect(error == nil)
        #expect(try await owner.query("SELECT last_value FROM judgements").value(as: Int.self) == times)
        // Warnings are not judged while others wait.
        #expect(warnings.withLock { $0 } == 1)
    }

    @Test("Nobody waits for the warnings of an edit")
    func warnsBeforeTheLock() async throws {
        let owner = try await owner()
        try await owner.execute(
            """
            INSERT INTO apps (bundle) VALUES ('b');
            CREATE OR REPLACE FUNCTION versiongate_internal.new_warnings(
                edits versiongate_internal.row_edit[]
            ) RETURNS SETOF versiongate_internal.warning LANGUAGE sql
            AS $$ SELECT pg_advisory_xact_lock(36); SELECT NULL::versiongate_internal.warning WHERE false $$
            """
        )
        let other = try await TestDatabase.current.connect(user: "versiongate_admin")
        let editor = try await TestDatabase.current.connect(user: "versiongate_admin")
        let process = try await editor.query("SELECT pg_backend_pid()").value(as: Int32.self)
        try await owner.execute("SELECT pg_advisory_lock(36)")
        async let edit: Void = editor.execute(
            "INSERT INTO releases (bundle, platform, version, live_at) VALUES ('a', 'ios', '1', now())"
        )
        while try await owner.query("SELECT cardinality(pg_blocking_pids($1)) = 0", [process]).value(as: Bool.self) {}
        // Were the lock of commits held, this would wait for the edit, and the edit for this test.
        try await other.execute("SET lock_timeout = '10s'; UPDATE apps SET name = 'B' WHERE bundle = 'b'")
        try await owner.execute("SELECT pg_advisory_unlock(36)")
        try await edit
        let order = "SELECT string_agg(edited_tables[1], ' ' ORDER BY id) FROM changes WHERE id > 2"
        #expect(try await owner.query(order).value(as: String.self) == "apps releases")
    }

    @Test("With immediate constraints too, a statement is recorded once, however many rows it edits")
    func recordsAStatementOnce() async throws {
        let owner = try await owner()
        try await owner.execute(
            """
            INSERT INTO releases (bundle, platform, version, live_at)
            SELECT 'a', 'ios', number || '.0', now() FROM generate_series(1, \(Self.rows)) AS number
            """
        )
        let read = """
            SELECT (sum(idx_tup_read) + (SELECT sum(seq_tup_read) FROM pg_stat_user_tables
                WHERE relname IN ('edited_rows', 'recorded_rows')))::int8
            FROM pg_stat_user_indexes WHERE relname IN ('edited_rows', 'recorded_rows')
            """
        for edit in [
            "UPDATE releases SET min_os = '3'", "UPDATE rules SET position = position + 1",
            "UPDATE rules SET versions = '<2', lockout = true, enabled = true",
            "WITH edited AS (UPDATE rules SET note = 'x') UPDATE releases SET note = 'x'",
        ] {
            try await owner.execute("ANALYZE; SELECT pg_stat_force_next_flush()")
            let before = try await owner.query(read).value(as: Int64.self)
            try await owner.execute("BEGIN; SET CONSTRAINTS ALL IMMEDIATE; \(edit); COMMIT")
            try await owner.execute("SELECT pg_stat_force_next_flush()")
            let rows = try await owner.query(read).value(as: Int64.self) - before
            #expect(rows <= Int64(50 * Self.rows), "\(edit)")
        }
    }
}
