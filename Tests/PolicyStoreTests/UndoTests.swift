import Dispatch
import Postgres
import Synchronization
import TestDatabase
import TestRandom
import TestSystem
import Testing

@Suite("Undo", .migratedDatabase)
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
        try await connection.query(
            "SELECT coalesce(string_agg(concat_ws(' ', key, title, text), ', ' ORDER BY key), '') FROM rules"
        ).value(as: String.self)
    }

    /// Edits after the two of the example, and what the refusal to undo the third says of each row.
    static let conflicts: [(edits: [String], detail: String)] = [
        (
            ["UPDATE rules SET title = 't2' WHERE key = 'k'", "UPDATE rules SET title = 't3' WHERE key = 'k'"],
            "rule k: title set by change 4"
        ),
        (
            [
                "UPDATE rules SET title = 't2', text = 'x2'", "UPDATE rules SET title = 't3' WHERE key = 'k'",
                "UPDATE rules SET text = 'x3' WHERE key = 'l'",
            ],
            """
            rule k: title set by change 4
            rule l: text set by change 5
            """
        ),
        (
            ["UPDATE rules SET title = 't2' WHERE key = 'k'", "DELETE FROM rules WHERE key = 'k'"],
            "rule k: deleted by change 4"
        ),
        (
            ["DELETE FROM rules WHERE key = 'k'", "INSERT INTO rules (key, title, text) VALUES ('k', 't', 'x')"],
            "rule k: inserted again by change 4"
        ),
        (
            [
                "UPDATE rules SET title = 't2', text = 'x2', note = 'n' WHERE key = 'k'",
                "UPDATE rules SET title = 't3', note = 'm' WHERE key = 'k'",
                "UPDATE rules SET text = 'x3', position = 1 WHERE key = 'k'",
            ],
            "rule k: text set by change 5; note, title set by change 4"
        ),
        (["DELETE FROM apps", "INSERT INTO apps (bundle) VALUES ('A')"], "app a: inserted again by change 4"),
    ]

    @Test(
        "An undo is refused where later changes set the same columns, and names them",
        arguments: Trials.some(conflicts)
    )
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

    @Test("An undo writes nothing when one of its rows stands in the way, wherever that row comes")
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

    @Test("An undo finds an app that is spelled otherwise since")
    func findsOtherSpellings() async throws {
        let connection = try await admin([
            "UPDATE apps SET name = 'N'", "DELETE FROM rules WHERE key = 'k'", "UPDATE apps SET bundle = 'A'",
            "SELECT undo_change(3)", "SELECT undo_change(4)",
        ])
        let found = "SELECT concat_ws(' ', a.bundle, a.name, r.bundle) FROM apps AS a, rules AS r WHERE r.key = 'k'"
        #expect(try await connection.query(found).value(as: String.self) == "A A")
    }

    @Test("An undo leaves later changes of other columns and rows as they are")
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

    @Test("An undo brings a lockout back that would be refused anew, with a warning", arguments: [true, false])
    func restoresWhatStood(deferred: Bool) async throws {
        let notices = Mutex<[String]>([])
        let connection = try await TestDatabase.current.connect(user: "versiongate_admin") { notice in
            notices.withLock { $0.append(notice.message) }
        }
        for statement in Self.example + [
            "INSERT INTO releases (bundle, platform, version) VALUES ('a', 'ios', '2')",
            "UPDATE rules SET versions = '<2', lockout = true, enabled = true, link = 'https://a.example' WHERE key = 'k'",
            "DELETE FROM releases", "DELETE FROM apps",
        ] {
            try await connection.execute(statement)
        }
        notices.withLock { $0.removeAll() }
        try await connection.execute(
            "BEGIN; SET CONSTRAINTS ALL \(deferred ? "DEFERRED" : "IMMEDIATE"); SELECT undo_change(6); COMMIT"
        )
        #expect(try await connection.query("SELECT enabled FROM rules WHERE key = 'k'").value(as: Bool.self))
        #expect(notices.withLock { $0 } == ["nobody has a way out of rule \"k\""])
        #expect(try await undoes(connection) == 6)
        // Only an undo may: whoever writes the same by hand is refused.
        try await connection.execute("UPDATE rules SET enabled = false")
        let error = await #expect(throws: PostgresError.self) {
            try await connection.execute("UPDATE rules SET enabled = true WHERE key = 'k'")
        }
        #expect(error?.constraint == "rules_lockout_guard")
    }

    @Test("An undo does not bring a lockout into a form in which it never stood and leaves no way out")
    func isGuarded() async throws {
        let connection = try await admin([
            "INSERT INTO releases (bundle, platform, version) VALUES ('a', 'ios', '2')",
            "UPDATE rules SET versions = '<2', lockout = true, enabled = true WHERE key = 'k'",
            "UPDATE rules SET enabled = false WHERE key = 'k'", "UPDATE rules SET versions = '<3' WHERE key = 'k'",
        ])
        let error = await #expect(throws: PostgresError.self) { try await connection.query("SELECT undo_change(5)") }
        #expect(error?.constraint == "rules_lockout_guard")
        #expect(try await connection.query("SELECT enabled FROM rules WHERE key = 'k'").value(as: Bool.self) == false)
    }

    /// Edits that one statement makes of several rows, which have to give way to each other.
    static let shifts: [(edits: [String], table: String)] = [
        (["UPDATE rollout_steps SET at = at + interval '1 day'"], "rollout_steps"),
        (["UPDATE rollout_steps SET at = at - interval '1 day'"], "rollout_steps"),
        (["UPDATE rule_texts SET language = CASE language WHEN 'de' THEN 'fr' ELSE 'de' END"], "rule_texts"),
        (["UPDATE rule_texts SET language = upper(language)"], "rule_texts"),
        (["UPDATE store_links SET platform = CASE platform WHEN 'ios' THEN 'android' ELSE 'ios' END"], "store_links"),
        (
            [
                "BEGIN", "UPDATE apps SET bundle = 'A' WHERE bundle = 'a'",
                "UPDATE apps SET bundle = 'B' WHERE bundle = 'b'", "COMMIT",
            ], "apps"
        ),
    ]

    @Test(
        "An undo takes back what shifted or swapped rows, and is taken back itself", arguments: Trials.some(shifts),
        [false, true]
    )
    func undoesShifts(_ shift: (edits: [String], table: String), immediate: Bool) async throws {
        let connection = try await admin([
            "INSERT INTO apps (bundle, name) VALUES ('b', 'B')",
            """
            INSERT INTO store_links VALUES ('a', 'ios', 'https://a.example/i'), ('a', 'android', 'https://a.example/a'),
                ('b', 'ios', 'https://b.example/i')
            """,
            "INSERT INTO rule_texts VALUES ('k', 'de', 'd', 'd'), ('k', 'fr', 'f', 'f')",
            """
            INSERT INTO rollout_steps VALUES ('k', '2030-01-01Z', 10), ('k', '2030-01-02Z', 50), ('k', '2030-01-03Z', 100)
            """,
        ])
        func rows(_ source: String) async throws -> String {
            try await connection.query(
                "SELECT jsonb_agg(to_jsonb(r) ORDER BY to_jsonb(r))::text FROM \(source) AS r"
            ).value(as: String.self)
        }
        func undo(_ change: Int64) async throws {
            try await connection.execute(
                "BEGIN; \(immediate ? "SET CONSTRAINTS ALL IMMEDIATE;" : "") SELECT undo_change(\(change)); COMMIT"
            )
        }
        let before = try await rows(shift.table)
        try await connection.execute(shift.edits.joined(separator: "; "))
        let after = try await rows(shift.table)
        #expect(before != after)
        try await undo(7)
        #expect(try await rows(shift.table) == before)
        try await undo(8)
        #expect(try await rows(shift.table) == after)
        #expect(try await rows("rows_at(NULL::\(shift.table), 6)") == before)
        #expect(try await rows("rows_at(NULL::\(shift.table), 7)") == after)
        #expect(try await undoes(connection) == 8)
    }

    /// The change that the newest change says it undoes.
    private func undoes(_ connection: PostgresConnection) async throws -> Int64? {
        try await connection.query("SELECT undoes FROM changes ORDER BY id DESC LIMIT 1").value(as: Int64?.self)
    }

    @Test(
        "An undo is all that its transaction does, so that what the history says of it is true",
        arguments: [
            "SELECT undo_change(2); DELETE FROM apps", "INSERT INTO apps (bundle) VALUES ('b'); SELECT undo_change(2)",
            "SELECT undo_change(2); SELECT undo_change(1)",
            "SELECT undo_change(2); INSERT INTO rules (key, title, text) VALUES ('k', 't1', 'x1')",
            "SET CONSTRAINTS ALL IMMEDIATE; SELECT undo_change(2); INSERT INTO apps (bundle) VALUES ('b')",
            "SET CONSTRAINTS ALL IMMEDIATE; INSERT INTO apps (bundle) VALUES ('b'); SELECT undo_change(2)",
            "SELECT undo_change(2); SET CONSTRAINTS ALL IMMEDIATE; INSERT INTO apps (bundle) VALUES ('b')",
            "WITH other AS (INSERT INTO apps (bundle) VALUES ('b') RETURNING bundle) SELECT undo_change(2) FROM other",
        ]
    )
    func isAlone(_ script: String) async throws {
        let connection = try await admin()
        let error = await #expect(throws: PostgresError.self) {
            try await connection.execute("BEGIN; \(script); COMMIT")
        }
        #expect(error?.sqlState?.rawValue == "55000")
        #expect(error?.hint?.contains("COMMIT") == true)
        try await connection.execute("ROLLBACK")
        #expect(try await connection.query("SELECT max(id) FROM changes").value(as: Int64.self) == 2)
        try await connection.execute(
            "BEGIN; SAVEPOINT s; SELECT undo_change(2); ROLLBACK TO s; DELETE FROM apps; COMMIT"
        )
        #expect(try await undoes(connection) == nil)
    }

    @Test("An undo never removes what later changes put below a row that would go, and counts what it does")
    func keepsLaterRows() async throws {
        let connection = try await admin([
            "INSERT INTO rules (key, title, text, rollout) VALUES ('r', 't', 'x', 0)",
            "INSERT INTO rule_texts VALUES ('r', 'de', 't', 'x'), ('r', 'fr', 't', 'x')",
            "INSERT INTO rollout_steps VALUES ('r', '2030-01-01Z', 5)", "INSERT INTO apps (bundle) VALUES ('b')",
            "INSERT INTO store_links VALUES ('b', 'ios', 'https://b.example')",
        ])
        for (change, detail) in [
            (
                3,
                "rule r: has got text r de and 1 more by change 4; "
                    + #"has got rollout step r 2030-01-01T00:00:00Z by change 5"#
            ), (6, "app b: has got store link b ios by change 7"),
        ] {
            let error = await #expect(throws: PostgresError.self) {
                try await connection.query("SELECT undo_change($1)", [Int64(change)])
            }
            #expect(error?.detail == detail)
        }
        try await connection.execute("DELETE FROM rules WHERE key = 'r'")
        let restored = try await connection.query("SELECT undo_change(8)").value(as: Int64.self)
        #expect(restored == 4)
        #expect(try await connection.query("SELECT undo_change(4)").value(as: Int64.self) == 2)
    }

    @Test("An undo is refused in our words where two take back one deletion at once")
    func isRefusedToTheSecond() async throws {
        let first = try await admin(["DELETE FROM rules WHERE key = 'k'"])
        let second = try await TestDatabase.current.connect(user: "versiongate_admin")
        let process = try await second.query("SELECT pg_backend_pid()").value(as: Int32.self)
        let error = try await first.withSession { session in
            try session.execute("BEGIN; SELECT undo_change(3)")
            let ended = DispatchSemaphore(value: 0)
            let refusal = Mutex<PostgresError?>(nil)
            Task {
                do {
                    try await second.execute("SELECT undo_change(3)")
                } catch {
                    refusal.withLock { $0 = error as? PostgresError }
                }
                ended.signal()
            }
            // The second waits for the first: its row has the same key.
            while try session.query("SELECT cardinality(pg_blocking_pids($1)) = 0", [process]).value(as: Bool.self) {}
            try session.execute("COMMIT")
            #expect(ended.wait(timeout: .now() + .seconds(Patience.seconds)) == .success)
            return refusal.withLock { $0 }
        }
        #expect(error?.message == "change 3 cannot be undone: later changes are in the way")
        #expect(error?.detail == "rule k: inserted again by change 4")
    }

    @Test("An undo names at most twenty rows that are in the way, and looks for each by its key")
    func isBounded() async throws {
        let connection = try await admin([
            "INSERT INTO rules (key, title, text) SELECT 'n' || i, 't', 'x' FROM generate_series(1, 100) AS i",
            "UPDATE rules SET title = 'u'", "UPDATE rules SET title = 'v'",
        ])
        let error = await #expect(throws: PostgresError.self) { try await connection.query("SELECT undo_change(4)") }
        let lines = error?.detail?.split(separator: "\n") ?? []
        #expect(lines.count == 21)
        #expect(lines.last == "and 82 more")
        #expect(lines.dropLast().allSatisfy { $0.hasSuffix(": title set by change 5") })

        // The search of the history goes by an index that names the row, so its cost does not grow with it.
        let owner = try await TestDatabase.current.connect()
        try await owner.execute("SET enable_seqscan = off; SET enable_bitmapscan = off; ANALYZE")
        let plan = try await owner.query(
            """
            EXPLAIN SELECT change FROM change_rows WHERE table_name = 'rules' AND key = '{"key": "n1"}' AND change > 4
            ORDER BY change DESC LIMIT 1
            """
        ).map { try $0.decode(0, as: String.self) }
        #expect(plan.contains { $0.contains("Scan using recorded_rows_row_key") }, "\(plan)")
        #expect(!plan.contains { $0.contains("Seq Scan") }, "\(plan)")
    }

    @Test("An undo keeps every entry of the history, whatever is removed and undone")
    func keepsTheHistory() async throws {
        let connection = try await admin(["DELETE FROM apps", "SELECT undo_change(3)", "DELETE FROM rules"])
        let kept = try await connection.query(
            "SELECT string_agg(concat_ws(':', c.id, n), ' ' ORDER BY c.id) FROM changes AS c, LATERAL ("
                + "SELECT count(*) FROM change_rows AS r WHERE r.change = c.id) AS r(n)"
        )
        #expect(try kept.value(as: String.self) == "1:1 2:2 3:3 4:3 5:2")
    }
}
