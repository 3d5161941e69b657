// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Postgres
import TestDatabase
import Testing
import UpdatePolicy

/// The cases of the contract that are about writing: what is refused, kept, recorded and undone.
@Suite("Semantic edits", .migratedDatabase)
struct SemanticEditTests {
    /// An edit that must be refused.
    struct Refusal: Sendable {
        let row: Int
        let sql: String
        let hint: String

        init(_ row: Int, rule column: String, _ value: String, hint: String = "") {
            self.row = row
            sql = "INSERT INTO rules (key, title, text, \(column)) VALUES ('r', 't', 'x', \(value))"
            self.hint = hint
        }

        init(_ row: Int, _ sql: String, hint: String = "") {
            self.row = row
            self.sql = sql
            self.hint = hint
        }
    }

    static let refusals = [
        Refusal(16, rule: "regions", "'{Japan}'"), Refusal(16, rule: "regions", "'{jp}'", hint: "JP"),
        Refusal(16, rule: "regions", "'{UK}'", hint: "GB"), Refusal(16, rule: "regions", "'{EN}'"),
        Refusal(20, rule: "platforms", "'{}'", hint: "NULL means no condition"),
        Refusal(20, rule: "platforms", "'{NULL}'", hint: "means no condition"),
        Refusal(20, rule: "platforms", "'{{ios},{android}}'", hint: "NULL means no condition"),
        Refusal(20, rule: "attributes", "'{}'", hint: "NULL means no condition"),
        Refusal(20, rule: "attributes", "'null'", hint: "NULL means no condition"),
        Refusal(20, rule: "attributes", "'{\"a\":[]}'", hint: "NULL means no condition"),
        Refusal(20, rule: "attributes", "'{\"install\":[\"x\"]}'", hint: "NULL means no condition"),
        Refusal(20, rule: "rollout", "NULL", hint: "NULL means no condition"),
        Refusal(27, rule: "rollout", "99.996"), Refusal(27, rule: "rollout", "33.335"),
        Refusal(27, rule: "rollout", "101"),
        Refusal(27, rule: "rollout", "-1"), Refusal(27, rule: "rollout", "'NaN'"),
        Refusal(29, rule: "starts_at, ends_at", "'2026-03-01T12:00Z', '2026-03-01T12:00Z'"),
        Refusal(29, rule: "starts_at", "'infinity'", hint: "NULL"), Refusal(30, rule: "soak", "'1 month'"),
        Refusal(30, rule: "soak", "'-1 day'"), Refusal(37, "TRUNCATE rules CASCADE", hint: "DELETE"),
        Refusal(40, "INSERT INTO rules (key, title, text) VALUES ('r', '{target}', 'x')"),
    ]

    @Test("Rows 16, 20, 27, 29, 30, 37 and 40: Wrong writes are refused with a hint")
    func refuses() async throws {
        let connection = try await TestDatabase.current.connect()
        for refusal in Self.refusals {
            let comment: Comment = "row \(refusal.row): \(refusal.sql)"
            let error = await #expect(throws: PostgresError.self, comment) { try await connection.execute(refusal.sql) }
            #expect(error?.hint?.contains(refusal.hint) == true, comment)
        }
    }

    @Test("Row 17: A bundle is stored as the app spells it")
    func bundle() async throws {
        let connection = try await database()
        try await connection.execute(
            "INSERT INTO rules (key, bundle, title, text) VALUES ('r', 'COM.example.doto', 't', 'x')"
        )
        #expect(try await connection.query("SELECT bundle FROM rules").value(as: String.self) == "com.example.doto")
    }

    @Test("Row 28: A rollout that steps override is not edited, and goes down when they are deleted with it")
    func rolloutWithSteps() async throws {
        let connection = try await database()
        try await connection.execute(
            """
            INSERT INTO rules (key, bundle, enabled, title, text, rollout)
            VALUES ('r', 'com.example.doto', true, 't', 'x', 5);
            INSERT INTO rollout_steps VALUES ('r', '2026-03-01T13:00Z', 25), ('r', '2026-03-01T14:00Z', 100);
            """
        )
        let error = await #expect(throws: PostgresError.self) {
            try await connection.execute("UPDATE rules SET rollout = 0")
        }
        #expect(error?.constraint == "rules_rollout_guard")
        #expect(error?.hint?.contains("DELETE FROM rollout_steps") == true)
        try await connection.execute("BEGIN; DELETE FROM rollout_steps; UPDATE rules SET rollout = 0; COMMIT")
        let rollouts = try await connection.query(
            """
            SELECT array_agg(rollout_at('r', at)::text)
            FROM unnest('{2026-03-01T12:00Z,2026-03-01T15:00Z}'::timestamptz[]) AS at
            """
        )
        #expect(try rollouts.value(as: [String].self) == ["0", "0"])
    }

    @Test("Row 36: A lockout is turned on only where there is a version to go to")
    func lockoutGuard() async throws {
        let connection = try await database()
        let lockout =
            "INSERT INTO rules (key, bundle, title, text, versions, lockout, enabled)"
            + " VALUES ('r', 'com.example.doto', 't', 'x', '<1.2', true, "
        try await refused(connection, lockout + "true)")
        try await connection.execute(lockout + "false)")
        try await refused(connection, "UPDATE rules SET enabled = true")
        try await connection.execute(
            """
            BEGIN;
            UPDATE rules SET enabled = true;
            INSERT INTO releases (bundle, platform, version) VALUES ('com.example.doto', 'ios', '1.2');
            COMMIT;
            UPDATE releases SET withdrawn_at = '2026-01-01T00:00Z';
            UPDATE rules SET title = 'u';
            UPDATE rules SET rollout = 50;
            """
        )
        try await refused(connection, "UPDATE rules SET versions = '<1.1'")
        try await connection.execute("UPDATE rules SET enabled = false")
    }

    private func refused(_ connection: PostgresConnection, _ sql: String) async throws {
        let error = await #expect(throws: PostgresError.self) { try await connection.execute(sql) }
        #expect(error?.constraint == "rules_lockout_guard")
    }

    @Test("Row 37: A transaction makes one revision, and none where it changes nothing")
    func revisions() async throws {
        let connection = try await database()
        try await connection.execute(
            "INSERT INTO rules (key, bundle, title, text) VALUES ('r', 'com.example.doto', 't', 'x')"
        )
        let edits: [(sql: String, revisions: Int)] = [
            ("BEGIN; UPDATE rules SET title = 'a'; UPDATE rules SET text = 'b'; UPDATE apps SET name = 'c'; COMMIT", 1),
            ("UPDATE rules SET title = 'z' WHERE false", 0), ("UPDATE rules SET title = title", 0),
            ("BEGIN; UPDATE rules SET title = 'd'; ROLLBACK", 0),
            (
                """
                BEGIN; UPDATE rules SET title = 'e'; SAVEPOINT s; UPDATE rules SET text = 'f'; ROLLBACK TO s; COMMIT
                """, 1
            ),
        ]
        for edit in edits {
            let before = try await revision(connection)
            try await connection.execute(edit.sql)
            #expect(try await revision(connection) == before + edit.revisions, "\(edit.sql)")
        }
        let last = try await connection.query(
            "SELECT after ->> 'title', after ->> 'text' FROM change_rows WHERE change = (SELECT max(id) FROM changes)"
        )
        #expect(last.count == 1)
        #expect(try last.first?.decode(0, as: String.self) == "e")
        #expect(try last.first?.decode(1, as: String.self) == "b")
    }

    @Test("Row 38: An undo takes back one change and no other, once")
    func undo() async throws {
        let connection = try await database()
        try await connection.execute(
            "INSERT INTO rules (key, bundle, title, text, rollout) VALUES ('r', 'com.example.doto', 't', 'x', 10)"
        )
        try await connection.execute("UPDATE rules SET rollout = 20")
        let change = try await revision(connection)
        try await connection.execute("UPDATE rules SET title = 'u'")
        try await connection.query("SELECT undo_change($1)", [change])
        let undo = try await revision(connection)
        #expect(try await rule(connection) == "10 u")
        let error = await #expect(throws: PostgresError.self) {
            try await connection.query("SELECT undo_change($1)", [change])
        }
        #expect(error?.sqlState?.rawValue == "55000")
        try await connection.query("SELECT undo_change($1)", [undo])
        #expect(try await rule(connection) == "20 u")
    }

    @Test("Row 38: An undone deletion brings texts and steps back, whatever the sessions' settings")
    func undoDeletion() async throws {
        let connection = try await database()
        try await connection.execute(
            """
            SET TimeZone = 'Asia/Tokyo';
            INSERT INTO rules (key, bundle, title, text, soak, starts_at)
            VALUES ('r', 'com.example.doto', 't', 'x', '36 hours', '2026-03-01T12:00:00.000001Z');
            INSERT INTO rule_texts VALUES ('r', 'de', 't', 'x');
            INSERT INTO rollout_steps VALUES ('r', '2026-03-08T02:30Z', 37.25);
            """
        )
        let before = try await rows(connection)
        try await connection.execute("DELETE FROM rules")
        let deletion = try await revision(connection)
        try await connection.execute("SET TimeZone = 'America/New_York'; SET IntervalStyle = iso_8601")
        try await connection.query("SELECT undo_change($1)", [deletion])
        let undo = try await revision(connection)
        try await connection.execute("SET TimeZone = 'Asia/Tokyo'; RESET IntervalStyle")
        #expect(try await rows(connection) == before)
        try await connection.query("SELECT undo_change($1)", [undo])
        let left = try await connection.query(
            """
            SELECT (SELECT count(*) FROM rules) + (SELECT count(*) FROM rule_texts)
                + (SELECT count(*) FROM rollout_steps)
            """
        )
        #expect(try left.value(as: Int.self) == 0)
    }

    private func database() async throws -> PostgresConnection {
        let connection = try await TestDatabase.current.connect()
        try await connection.execute("INSERT INTO apps (bundle) VALUES ('com.example.doto')")
        return connection
    }

    private func revision(_ connection: PostgresConnection) async throws -> Int {
        try await connection.query("SELECT revision FROM policy_revision").value(as: Int.self)
    }

    private func rule(_ connection: PostgresConnection) async throws -> String {
        try await connection.query("SELECT rollout || ' ' || title FROM rules").value(as: String.self)
    }

    private func rows(_ connection: PostgresConnection) async throws -> String {
        try await connection.query(
            """
            SELECT concat_ws(E'\\n', (SELECT r::text FROM rules AS r), (SELECT t::text FROM rule_texts AS t),
                (SELECT s::text FROM rollout_steps AS s))
            """
        ).value(as: String.self)
    }
}
