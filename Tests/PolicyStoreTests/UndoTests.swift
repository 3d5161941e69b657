// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Postgres
import TestDatabase
import Testing

@Suite("Undoing a change", .migratedDatabase)
struct UndoTests {
    private static let example = [
        "INSERT INTO apps (bundle) VALUES ('a')",
        "INSERT INTO rules (key, bundle, title, text) VALUES ('k', 'a', 't1', 'x1'), ('l', 'a', 't1', 'x1')",
    ]

    private func admin(_ statements: [String] = []) async throws -> PostgresConnection {
        let connection = try await TestDatabase.current.connect(user: "versiongate_admin")
        for statement in Self.example + statements { try await connection.execute(statement) }
        return connection
    }

    private func titles(_ connection: PostgresConnection) async throws -> String {
        try await connection.query("SELECT string_agg(concat_ws(' ', key, title, text), ', ' ORDER BY key) FROM rules")
            .value(as: String.self)
    }

    /// Edits after the two of the example, and what the refusal to undo the third says of each row.
    static let conflicts: [(edits: [String], detail: String)] = [
        (
            ["UPDATE rules SET title = 't2' WHERE key = 'k'", "UPDATE rules SET title = 't3' WHERE key = 'k'"],
            #"rules {"key": "k"}: title set by change 4"#
        ),
        (
            [
                "UPDATE rules SET title = 't2', text = 'x2'", "UPDATE rules SET title = 't3' WHERE key = 'k'",
                "UPDATE rules SET text = 'x3' WHERE key = 'l'",
            ],
            """
            rules {"key": "k"}: title set by change 4
            rules {"key": "l"}: text set by change 5
            """
        ),
        (
            ["UPDATE rules SET title = 't2' WHERE key = 'k'", "DELETE FROM rules WHERE key = 'k'"],
            #"rules {"key": "k"}: deleted by change 4"#
        ),
        (
            ["DELETE FROM rules WHERE key = 'k'", "INSERT INTO rules (key, title, text) VALUES ('k', 't', 'x')"],
            #"rules {"key": "k"}: inserted again by change 4"#
        ),
        (
            ["UPDATE apps SET name = 'A'", "UPDATE apps SET bundle = 'b'"],
            #"apps {"bundle": "a"}: renamed by change 4"#
        ),
    ]

    @Test("is refused where later changes set the same columns, and names them", arguments: conflicts)
    func namesTheLaterChange(_ edits: [String], _ detail: String) async throws {
        let connection = try await admin(edits)
        let before = try await titles(connection)
        let error = await #expect(throws: PostgresError.self) { try await connection.query("SELECT undo_change(3)") }
        #expect(error?.sqlState?.rawValue == "55000")
        #expect(error?.message == "change 3 cannot be undone: later changes are in the way")
        #expect(error?.detail == detail)
        #expect(error?.hint?.contains("Undo the later changes first") == true)
        #expect(try await titles(connection) == before)
    }

    @Test("writes nothing when one of its rows stands in the way, wherever that row comes")
    func checksAllRowsFirst() async throws {
        for blocked in ["k", "l"] {
            let connection = try await TestDatabase.current.connect(user: "versiongate_admin")
            try await connection.execute("DELETE FROM apps; DELETE FROM rules")
            for statement in Self.example { try await connection.execute(statement) }
            try await connection.execute("UPDATE rules SET title = 't2'")
            let change = try await connection.query("SELECT max(id) FROM changes").value(as: Int64.self)
            try await connection.execute("UPDATE rules SET title = 't3' WHERE key = '\(blocked)'")
            let before = try await titles(connection)
            await #expect(throws: PostgresError.self) {
                try await connection.transaction { session in
                    do {
                        _ = try session.query("SAVEPOINT s")
                        _ = try session.query("SELECT undo_change($1)", [change])
                    } catch {
                        _ = try session.query("ROLLBACK TO s")
                        let notes = try session.query("SELECT string_agg(title, ' ') FROM rules").value(as: String.self)
                        #expect(notes.contains("t2") && notes.contains("t3"))
                        throw error
                    }
                }
            }
            #expect(try await titles(connection) == before)
        }
    }

    @Test("leaves later changes of other columns and rows as they are")
    func leavesOthers() async throws {
        let connection = try await admin([
            "UPDATE rules SET title = 't2'", "UPDATE rules SET text = 'x3' WHERE key = 'k'",
            "INSERT INTO rules (key, title, text) VALUES ('m', 't3', 'x3')", "SELECT undo_change(3)",
        ])
        #expect(try await titles(connection) == "k t1 x3, l t1 x1, m t3 x3")
        try await connection.execute("SELECT undo_change(6)")
        #expect(try await titles(connection) == "k t2 x3, l t2 x1, m t3 x3")
        try await connection.execute("SELECT undo_change(7)")
        #expect(try await titles(connection) == "k t1 x3, l t1 x1, m t3 x3")
    }

    @Test("is judged by the guards like any other edit")
    func isGuarded() async throws {
        let connection = try await admin([
            "INSERT INTO releases (bundle, platform, version) VALUES ('a', 'ios', '2')",
            "UPDATE rules SET versions = '<2', lockout = true, enabled = true WHERE key = 'k'",
            "UPDATE rules SET enabled = false WHERE key = 'k'",
            "UPDATE releases SET withdrawn_at = '2026-01-01T00:00Z'",
        ])
        let error = await #expect(throws: PostgresError.self) { try await connection.query("SELECT undo_change(5)") }
        #expect(error?.constraint == "rules_lockout_guard")
        #expect(try await connection.query("SELECT enabled FROM rules WHERE key = 'k'").value(as: Bool.self) == false)
    }

    @Test("keeps every entry of the history, whatever is removed and undone")
    func keepsTheHistory() async throws {
        let connection = try await admin(["DELETE FROM apps", "SELECT undo_change(3)", "DELETE FROM rules"])
        let kept = try await connection.query(
            "SELECT string_agg(concat_ws(':', c.id, n), ' ' ORDER BY c.id) FROM changes AS c, LATERAL ("
                + "SELECT count(*) FROM change_rows AS r WHERE r.change = c.id) AS r(n)"
        )
        #expect(try kept.value(as: String.self) == "1:1 2:2 3:3 4:3 5:2")
    }
}
