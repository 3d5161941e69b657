import Postgres
import TestDatabase
import Testing
import UpdatePolicy

@testable import PolicyStore

@Suite("Release notes", .migratedDatabase)
struct ReleaseNoteTests {
    private static let example = [
        "INSERT INTO apps (bundle) VALUES ('a')",
        "INSERT INTO releases (bundle, platform, version) VALUES ('a', 'ios', '1')",
        "INSERT INTO release_notes SELECT id, 'und', 'New' FROM releases",
    ]

    private func admin() async throws -> PostgresConnection {
        let connection = try await TestDatabase.current.connect(user: "versiongate_admin")
        for statement in Self.example { try await connection.execute(statement) }
        return connection
    }

    private func notes(_ connection: PostgresConnection) async throws -> [String] {
        try await connection.query(
            "SELECT concat_ws(' ', version, language, text) FROM release_notes JOIN releases ON id = release ORDER BY 1"
        ).map { try $0.decode(0, as: String.self) }
    }

    @Test("Release notes go with their release and come back with it")
    func followTheirRelease() async throws {
        let connection = try await admin()
        try await connection.execute("DELETE FROM releases")
        #expect(try await notes(connection).isEmpty)
        try await connection.execute("SELECT undo_change(4)")
        #expect(try await notes(connection) == ["1 und New"])
        try await connection.execute("UPDATE apps SET bundle = 'A'")
        try await connection.execute("SELECT undo_change(3)")
        #expect(try await notes(connection).isEmpty)
    }

    @Test("Release notes keep a change from being undone that would take their release, and are named")
    func areInTheWay() async throws {
        let connection = try await admin()
        let error = await #expect(throws: PostgresError.self) { try await connection.execute("SELECT undo_change(2)") }
        #expect(error?.detail == "release a 1 ios: has got release note a 1 ios und by change 3")
        try await connection.execute("SELECT undo_change(3)")
        try await connection.execute("SELECT undo_change(2)")
        #expect(try await connection.query("SELECT count(*) FROM releases").value(as: Int.self) == 0)
    }

    @Test("Release notes swap languages in one statement, and have each language once whatever its case")
    func haveEachLanguageOnce() async throws {
        let connection = try await admin()
        try await connection.execute("INSERT INTO release_notes SELECT id, 'de', 'Neu' FROM releases")
        try await connection.execute(
            "UPDATE release_notes SET language = CASE language WHEN 'de' THEN 'und' ELSE 'de' END"
        )
        #expect(try await notes(connection) == ["1 de New", "1 und Neu"])
        let error = await #expect(throws: PostgresError.self) {
            try await connection.execute("INSERT INTO release_notes SELECT id, 'DE', 'x' FROM releases")
        }
        #expect(error?.constraint == "release_notes_language_key")
    }

    @Test("Release notes are told in the history by their release, also when that is gone")
    func areNamedInTheHistory() async throws {
        let connection = try await admin()
        let names = { @Sendable () async throws -> [String] in
            try await connection.transaction(.repeatableReadReadOnly) { session in
                try PolicyHistory(session).changes(HistoryFilter(limit: 9)).flatMap(\.rows)
                    .filter { $0.table == "release_notes" }.map(\.key)
            }
        }
        #expect(try await names() == ["a 1 ios und"])
        try await connection.execute("DELETE FROM apps")
        #expect(try await names() == ["a 1 ios und", "a 1 ios und"])
    }

    @Test("Release notes are read as they stood at a revision, below the release of then")
    func areReadAtARevision() async throws {
        let connection = try await admin()
        try await connection.execute("UPDATE release_notes SET text = 'Newer'")
        try await connection.execute("DELETE FROM apps")
        for (revision, text) in [(2, nil), (3, "New"), (4, "Newer")] as [(Int64, String?)] {
            let policy = try await PolicyReader.policy(connection, revision: revision)
            #expect(policy.releases.map(\.notes) == [text.map { [ReleaseNote(text: $0)] } ?? []])
        }
        #expect(try await PolicyReader.policy(connection, revision: 5).releases.isEmpty)
    }

    @Test("A store number can be swapped between apps, and is refused to two, whenever constraints are judged")
    func numbersAreUnique() async throws {
        let connection = try await admin()
        try await connection.execute(
            """
            UPDATE apps SET store_id = 1;
            INSERT INTO apps (bundle, store_id) VALUES ('b', 2)
            """
        )
        try await connection.execute("UPDATE apps SET store_id = 3 - store_id")
        for prefix in ["", "SET CONSTRAINTS ALL IMMEDIATE; "] {
            let error = await #expect(throws: PostgresError.self) {
                try await connection.execute("BEGIN; \(prefix)UPDATE apps SET store_id = 1; COMMIT")
            }
            try await connection.execute("ROLLBACK")
            #expect(error?.constraint == "apps_store_id_guard")
            #expect(error?.detail == "b has it, so a cannot.")
            #expect(error?.dataType?.contains(#""row": {"bundle": "a"}"#) == true)
        }
    }
}
