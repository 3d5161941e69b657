import Foundation
import Postgres
import Subprocess
import SystemPackage
import TestDatabase
import TestRandom
import TestSystem
import Testing

/// Edits that end by SIGKILL: of the command, of its backend, of PostgreSQL as a whole.
///
/// An app with many rows is removed, the removal undone, the undo undone, and so on, or two policy files are applied in
/// turn, so that there are two states; after each kill the policy must be in one of them, as its revision says.
@Suite("Kills", .whole, .serialized)
struct KillTests {
    /// What is killed.
    enum Victim: CaseIterable, Sendable {
        case command, backend, postgres
    }

    /// What leads from one state to the other.
    enum Edit: Sendable {
        case undo, apply
    }

    /// How many times each victim is killed.
    static let rounds = ProcessInfo.processInfo.environment["VERSIONGATE_KILLS"].flatMap { Int($0) } ?? 1

    private static let example = """
        INSERT INTO apps (bundle, name) VALUES ('a', 'A');
        INSERT INTO store_links VALUES ('a', 'ios', 'https://example.com/');
        INSERT INTO releases (bundle, platform, version, live_at)
            SELECT 'a', 'ios', n::text, '2026-03-01T12:00Z' FROM generate_series(1, 40) AS n;
        INSERT INTO release_notes SELECT id, 'und', 'New in ' || version FROM releases;
        INSERT INTO feed_templates SELECT 'a', 'v' || n, 'text/plain', 'x' FROM generate_series(1, 5) AS n;
        INSERT INTO rules (key, bundle, title, text, versions)
            SELECT 'k' || n, 'a', 't', 'x', '<' || n FROM generate_series(1, 40) AS n;
        INSERT INTO rule_texts SELECT key, 'de', 't', 'x' FROM rules;
        INSERT INTO rollout_steps SELECT key, '2026-03-01T12:00Z', 50 FROM rules;
        """

    @Test(
        "An edit that is killed at a random point is wholly done or not at all",
        arguments: Victim.allCases.map { (Edit.undo, $0) } + [(.apply, .command), (.apply, .postgres)]
    )
    func isWholeOrNothing(edit: Edit, victim: Victim) async throws {
        try await StateFolder.with { folder in try await isWholeOrNothing(edit, victim, folder) }
    }

    private func isWholeOrNothing(_ edit: Edit, _ victim: Victim, _ folder: StateFolder) async throws {
        try await OwnServer.with(isMigrated: true) { server in
            let owner = try await server.connect()
            try await owner.execute(Self.example)
            let binary = BuiltBinary(environment: ["DATABASE_URL": server.url(user: "versiongate_admin")])
            let present = try await Self.state(owner)
            try await binary.run(arguments: ["export", "--output", folder.path + "/present"])
            _ = try await Self.polls(of: binary, ["app", "remove", "a", "--yes"], owner)
            let absent = try await Self.state(owner)
            try await binary.run(arguments: ["export", "--output", folder.path + "/absent"])
            func command(from state: State) -> [String] {
                switch edit {
                case .undo: ["undo", "\(state.revision)", "--yes"]
                case .apply:
                    [
                        "apply", folder.path + (state.rows == present.rows ? "/absent" : "/present"), "--yes",
                        "--removals",
                    ]
                }
            }
            let polls = try await Self.polls(of: binary, command(from: absent), owner)
            var expected = try await Self.state(owner)
            #expect(expected.rows == present.rows)
            await owner.close()

            var done = 0
            for round in 0..<Self.rounds {
                let before = expected
                try await Self.kill(
                    victim, of: binary, command(from: before), server, afterPolls: Int.random(in: 0...polls + polls / 2)
                )
                let connection = try await Self.reconnect(server)
                let after = try await Self.state(connection)
                await connection.close()
                let comment: Comment = "\(edit), \(victim), round \(round)"
                if after.revision == before.revision {
                    #expect(after == before, comment)
                } else {
                    let other = before.rows == present.rows ? absent.rows : present.rows
                    #expect(after.revision == before.revision + 1, comment)
                    #expect(after.rows == other, comment)
                    #expect(after.undoes == (edit == .undo ? before.revision : nil), comment)
                    done += 1
                }
                expected = after
            }
            print("Killed \(victim) in \(edit) \(Self.rounds) times; \(done) edits were done before.")
        }
    }

    /// What the policy and the history come to.
    private struct State: Equatable {
        let revision: Int64
        let rows: String
        let undoes: Int64?
        let changes: Int
        let notes: Int
    }

    private static func state(_ connection: PostgresConnection) async throws -> State {
        let row = try #require(
            try await connection.query(
                """
                SELECT revision, concat_ws(E'\\n',
                    (SELECT string_agg(t::text, ',' ORDER BY t::text) FROM apps AS t),
                    (SELECT string_agg(t::text, ',' ORDER BY t::text) FROM store_links AS t),
                    (SELECT string_agg((to_jsonb(t) - 'id')::text, ',' ORDER BY version) FROM releases AS t),
                    (SELECT string_agg(t.version || n.text, ',' ORDER BY version)
                     FROM releases AS t JOIN release_notes AS n ON n.release = t.id),
                    (SELECT string_agg(t::text, ',' ORDER BY t::text) FROM feed_templates AS t),
                    (SELECT string_agg(t::text, ',' ORDER BY t::text) FROM rules AS t),
                    (SELECT string_agg(t::text, ',' ORDER BY t::text) FROM rule_texts AS t),
                    (SELECT string_agg(t::text, ',' ORDER BY t::text) FROM rollout_steps AS t)),
                    (SELECT undoes FROM changes WHERE id = revision),
                    (SELECT count(*) FROM changes) - revision,
                    (SELECT count(*) FROM versiongate_internal.edited_rows)
                        + (SELECT count(*) FROM versiongate_internal.edits_to_record)
                FROM policy_revision
                """
            ).first
        )
        let state = State(
            revision: try row.decode(0, as: Int64.self), rows: try row.decode(1, as: String.self),
            undoes: try row.decode(2, as: Int64?.self), changes: try row.decode(3, as: Int.self),
            notes: try row.decode(4, as: Int.self)
        )
        #expect(state.changes == 0)
        #expect(state.notes == 0)
        return state
    }

    /// How many times the database can be asked from when a command is connected until its edit is committed, which
    /// measures time without a clock.
    private static func polls(
        of binary: BuiltBinary,
        _ arguments: [String],
        _ connection: PostgresConnection
    ) async throws -> Int {
        let revision = try await revision(connection)
        async let result = binary.run(arguments: arguments + ["--yes"])
        try await waitForEditor(connection, revision: revision)
        var polls = 0
        while try await Self.revision(connection) == revision, polls < 1_000_000 { polls += 1 }
        let status = try await result.status
        try #require(status == 0)
        return polls
    }

    private static func revision(_ connection: PostgresConnection) async throws -> Int64 {
        try await connection.query("SELECT revision FROM policy_revision").value(as: Int64.self)
    }

    /// Waits until somebody edits, or has done so.
    private static func waitForEditor(_ connection: PostgresConnection, revision: Int64) async throws {
        let isThere = """
            SELECT EXISTS (SELECT FROM pg_stat_activity WHERE usename = 'versiongate_admin')
                OR (SELECT p.revision FROM policy_revision AS p) <> $1
            """
        var tries = 0
        while try await !connection.query(isThere, [revision]).value(as: Bool.self), tries < 1_000_000 { tries += 1 }
    }

    /// Starts a command, and kills when the database was asked so many times since the command had connected.
    private static func kill(
        _ victim: Victim,
        of binary: BuiltBinary,
        _ arguments: [String],
        _ server: OwnServer,
        afterPolls polls: Int
    ) async throws {
        let connection = try await server.connect()
        let revision = try await revision(connection)
        _ = try await Subprocess.run(
            .path(FilePath(BuiltBinary.path)), arguments: Arguments(arguments + ["--yes"]),
            environment: binary.subprocessEnvironment, input: .none, output: .discarded, error: .discarded
        ) { execution in
            try await waitForEditor(connection, revision: revision)
            for _ in 0..<polls { _ = try await Self.revision(connection) }
            switch victim {
            case .command: send(SIGKILL, to: execution.processIdentifier.value)
            case .backend:
                let backends = try await connection.query(
                    "SELECT pid FROM pg_stat_activity WHERE usename = 'versiongate_admin'"
                ).map { try $0.decode(0, as: Int32.self) }
                for backend in backends { send(SIGKILL, to: backend) }
            case .postgres: server.kill()
            }
        }
        await connection.close()
    }

    /// Connects to a server that may be recovering, once nobody edits there any more.
    private static func reconnect(_ server: OwnServer) async throws -> PostgresConnection {
        var connected: PostgresConnection?
        try await Poll.until("the server to recover, and nobody to edit") {
            do {
                if connected == nil {
                    try await server.ensureRunning()
                    connected = try await server.connect()
                }
                let editors = "SELECT count(*) FROM pg_stat_activity WHERE usename = 'versiongate_admin'"
                return try await connected?.query(editors).value(as: Int.self) == 0
            } catch {
                connected = nil
                return false
            }
        }
        return try #require(connected)
    }

    private static func send(_ signal: Int32, to process: Int32) { _ = Foundation.kill(process, signal) }
}
