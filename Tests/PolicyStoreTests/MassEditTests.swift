// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Postgres
import TestDatabase
import Testing

@Suite("Mass edits", .migratedDatabase)
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
                    ANALYZE edited_rows;
                    UPDATE rules SET position = position + 1 WHERE right(key, 1) = part::text;
                END LOOP;
            END
            $$;
            ANALYZE edited_rows
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
        // A row is noted twice, settled and taken; each is a few looks. Reading all notes for each would be a million.
        #expect(after - before <= Int64(20 * Self.rows))
    }

    @Test("An edit of many rows waits for its commit with one event")
    func queuesOneEvent() async throws {
        let owner = try await owner()
        let deferred = try await owner.query(
            """
            SELECT string_agg(DISTINCT tgrelid::regclass::text, ' ') FROM pg_trigger
            WHERE tginitdeferred AND NOT tgisinternal
            """
        )
        #expect(try deferred.value(as: String.self) == "edits_to_record")
        let waiting = try await owner.transaction { session in
            try session.execute("UPDATE rules SET position = position + 1")
            return try session.query("SELECT count(*) FROM edits_to_record").value(as: Int.self)
        }
        #expect(waiting == 1)
        #expect(try await owner.query("SELECT count(*) FROM edits_to_record").value(as: Int.self) == 0)
        let recorded = try await owner.query("SELECT count(*) FROM change_rows WHERE change = 2")
        #expect(try recorded.value(as: Int.self) == Self.rows)
    }

    @Test("The history shows the first 50 rows of a change, and says how many more there are")
    func capsTheHistory() async throws {
        let owner = try await owner()
        let edits = try await owner.query("SELECT edits FROM history LIMIT 1").value(as: String.self)
        #expect(edits.split(separator: "\n").count == 51)
        #expect(edits.hasSuffix("\nand \(Self.rows + 1 - 50) more rows"))
    }
}
