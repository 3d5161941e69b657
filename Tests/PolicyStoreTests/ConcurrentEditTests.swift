import Foundation
import Postgres
import Synchronization
import TestDatabase
import TestRandom
import TestSystem
import Testing
import UpdatePolicy

@testable import PolicyStore

/// Two sessions that edit the same rows at random: one by reviewed edits and policy files, the other by SQL, while backends
/// are killed. What came of it is judged by the history, and the history by the rows.
@Suite("Concurrent edits", .migratedDatabase)
struct ConcurrentEditTests {
    private static let rows = """
        INSERT INTO apps (bundle, name) VALUES ('a', 'A'), ('b', 'B');
        INSERT INTO releases (bundle, platform, version, live_at)
            SELECT bundle, 'ios', '9', '2026-01-01Z' FROM apps;
        INSERT INTO rules (key, bundle, title, text, versions, enabled, lockout, link)
            SELECT 'k' || n, CASE WHEN n % 2 = 0 THEN 'a' ELSE 'b' END, 't', 'x', '<2', n < 4, n < 2, 'https://example.com/'
            FROM generate_series(0, 5) AS n;
        """
    private static let keys = (0..<6).map { "k\($0)" }
    private static let columns: [any WritableKeyPath<Rule, String?> & Sendable] = [\.versions, \.link, \.note]

    /// Makes a value that nobody else makes, and that is a value of the column.
    private static func value(_ number: Int, of column: WritableKeyPath<Rule, String?>) -> String {
        switch column {
        case \.versions: "<1.\(number)"
        case \.link: "https://example.com/\(number)"
        default: "note \(number)"
        }
    }

    /// An edit that a session was told of as made.
    private struct Made: Sendable {
        let change: PolicyChange
        /// What a reviewed edit was to be; nil of one that needed no review.
        var seen: DryRun?
        /// The cells that it was to change: `k1.note`; nil of an undo.
        let cells: Set<String>?
    }

    private struct Outcome: Sendable {
        var made: [Made] = []
        /// The cells that the other session changed by SQL, with their values.
        var written: [(cell: String, value: String)] = []
        var counts: [String: Int] = [:]
    }

    @Test("No edit is lost, and none is made onto a state that nobody saw, also where a session is ended")
    func few() async throws {
        let database = TestDatabase.current
        try await Self.check(
            rounds: 100, killsEvery: 10,
            connect: { $0 ? try await database.connect() : try await database.connect(user: "versiongate_admin") },
            kill: { process, owner in _ = try await owner.query("SELECT pg_terminate_backend($1)", [process]) }
        )
    }

    @Test("So it is in 10,000 rounds, also where a backend is killed and the server recovers", .long)
    func many() async throws {
        try await OwnServer.with(isMigrated: true) { server in
            try await Self.check(
                rounds: 10_000, killsEvery: 50,
                connect: { isOwner in
                    var connection: PostgresConnection?
                    try await Poll.until("the server to recover") {
                        try? await server.ensureRunning()
                        connection =
                            isOwner ? try? await server.connect() : try? await server.connect(user: "versiongate_admin")
                        return connection != nil
                    }
                    return try #require(connection)
                },
                kill: { process, _ in _ = Foundation.kill(process, SIGKILL) }
            )
        }
    }

    private static func check(
        rounds: Int,
        killsEvery: Int,
        connect: @escaping @Sendable (_ isOwner: Bool) async throws -> PostgresConnection,
        kill: @escaping @Sendable (Int32, PostgresConnection) async throws -> Void
    ) async throws {
        var owner = try await connect(true)
        try await owner.execute(rows)
        var random = SeededGenerator()
        var (commands, psql) = (try await connect(false), try await connect(false))
        var outcome = Outcome()
        for round in 0..<rounds {
            // A server that recovers ends also what has just connected.
            var process: Int32?
            while process == nil {
                if (try? await owner.query("SELECT 1")) == nil { owner = try await connect(true) }
                if (try? await psql.query("SELECT 1")) == nil { psql = try await connect(false) }
                process = try? await commands.query("SELECT pg_backend_pid()").value(as: Int32.self)
                if process == nil { commands = try await connect(false) }
            }
            let (first, second) = (SeededGenerator(seed: random.next()), SeededGenerator(seed: random.next()))
            async let reviewed = edit(commands, number: round, first)
            async let written = write(psql, number: rounds + round, second)
            if round % killsEvery == killsEvery - 1 {
                for _ in 0..<Int.random(in: 0...40, using: &random) {
                    _ = try? await owner.query("SELECT revision FROM policy_revision")
                }
                if let process { try? await kill(process, owner) }
            }
            let (made, kind) = await reviewed
            if let made { outcome.made.append(made) }
            outcome.counts[kind, default: 0] += 1
            if let cell = await written { outcome.written.append(cell) }
        }
        if (try? await owner.query("SELECT 1")) == nil { owner = try await connect(true) }
        let counts = outcome.counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
        print("\(rounds) rounds: \(counts); by SQL \(outcome.written.count)")
        try await judge(outcome, owner)
    }

    // MARK: The sessions

    /// Makes one edit as commands do, and returns what was made, and what became of it.
    private static func edit(
        _ connection: PostgresConnection,
        number: Int,
        _ random: SeededGenerator
    ) async -> (Made?, String) {
        var random = random
        let editing = PolicyTransaction(connection, logger: TestDatabase.logger)
        let (key, column, kind) = (random.pick(keys), random.pick(columns), Int.random(in: 0..<10, using: &random))
        let (asks, reviewsAll) = (random.chance(50), random.chance(50))
        let seen = Mutex<DryRun?>(nil)
        do {
            var cells: Set<String>? = ["\(key).\(Rule.column(column).name)"]
            var difference: (PolicyDifference, PolicyVersion)?
            if kind >= 6, kind < 9 {
                let policy = try await connection.transaction(.repeatableReadReadOnly) {
                    try PolicyReader.editedPolicy($0)
                }
                var wanted = policy
                cells = []
                for index in wanted.rules.indices where random.chance(40) {
                    let column = random.pick(columns)
                    wanted.rules[index][keyPath: column] = value(number, of: column)
                    cells?.insert("\(wanted.rules[index].key).\(Rule.column(column).name)")
                }
                difference = (
                    PolicyDifference(from: policy, to: wanted),
                    PolicyVersion(revision: policy.revision, token: policy.token)
                )
            }
            let written = ColumnValue<Rule>(column, value(number, of: column))
            let change = try await editing.edit(
                by: EditAuthor(osUser: nil, why: nil), reviewsAll: reviewsAll,
                review: { dryRun in
                    seen.withLock { $0 = dryRun }
                    return asks
                },
                { [difference] editor in
                    // Another attempt: what was seen of the one before is not what this one makes, maybe without a review.
                    if editor.assumesConsent { seen.withLock { $0 = nil } }
                    if let (difference, version) = difference {
                        try editor.make(difference, from: version)
                    } else if kind == 9 {
                        try editor.session.query("SELECT undo_change(max(id)) FROM public.changes")
                    } else {
                        try editor.update(where: [.init(\Rule.key, key)], set: [written])
                    }
                }
            )
            guard let change else { return (nil, "nothing") }
            if kind == 9 { cells = nil }
            return (
                Made(change: change, seen: seen.withLock(\.self), cells: cells),
                seen.withLock { $0 == nil } ? "made" : "reviewed"
            )
        } catch is PolicyConflict {
            return (nil, "overtaken")
        } catch let error as PostgresError where error.code != .server || error.sqlState?.rawValue == "57P01" {
            return (nil, "killed")
        } catch {
            return (nil, "refused")
        }
    }

    /// Changes a cell by SQL, and returns it once that is committed.
    private static func write(
        _ connection: PostgresConnection,
        number: Int,
        _ random: SeededGenerator
    ) async -> (cell: String, value: String)? {
        var random = random
        let (key, column, waits) = (random.pick(keys), random.pick(columns), Int.random(in: 0..<10, using: &random))
        let (name, text) = (Rule.column(column).name, value(number, of: column))
        do {
            try await connection.transaction { session in
                try session.query("UPDATE rules SET \(name) = $1 WHERE key = $2", [text, key])
                for _ in 0..<waits { try session.query("SELECT count(*) FROM changes") }
            }
            return ("\(key).\(name)", text)
        } catch {
            return nil
        }
    }

    // MARK: The judgement

    private static func judge(_ outcome: Outcome, _ owner: PostgresConnection) async throws {
        // The history is a chain: each change finds each row as the one before has left it, and the last is what is there.
        let faults = try await owner.query(
            """
            SELECT (SELECT count(*) FROM (
                        SELECT before, lag(after) OVER edits AS left_as, lag(change) OVER edits AS earlier
                        FROM change_rows WINDOW edits AS (PARTITION BY table_name, key ORDER BY change)
                    ) AS row WHERE earlier IS NOT NULL AND before IS DISTINCT FROM left_as),
                   (SELECT count(*) FROM (
                        SELECT DISTINCT ON (key) key, after FROM change_rows WHERE table_name = 'rules' ORDER BY key, change DESC
                    ) AS last FULL JOIN rules AS rule ON rule.key = last.key ->> 'key'
                    WHERE last.after IS DISTINCT FROM to_jsonb(rule)),
                   (SELECT max(id) - count(*) FROM changes), (SELECT revision - (SELECT max(id) FROM changes) FROM policy_revision)
            """
        ).first
        for column in 0..<4 { #expect(try faults?.decode(column, as: Int64.self) == 0, "\(column)") }

        var cells: [Int64: Set<String>] = [:]
        var found: [String: Int] = [:]
        for row in try await owner.query(
            """
            SELECT change, key ->> 'key', name, after ->> name FROM change_rows, jsonb_object_keys(after) AS name
            WHERE table_name = 'rules' AND before IS NOT NULL AND before -> name IS DISTINCT FROM after -> name
            """
        ) {
            let cell = "\(try row.decode(1, as: String.self)).\(try row.decode(2, as: String.self))"
            cells[try row.decode(0, as: Int64.self), default: []].insert(cell)
            found["\(cell) = \(try row.decode(3, as: String?.self) ?? "")", default: 0] += 1
        }
        // Each edit changed what it named and nothing else, in the state that was seen, as it was seen.
        #expect(Set(outcome.made.map(\.change.id)).count == outcome.made.count)
        for made in outcome.made {
            let id = made.change.id
            if let wanted = made.cells { #expect(cells[id] == wanted, "change \(id)") }
            guard let seen = made.seen else { continue }
            #expect(seen.base.revision == id - 1 && seen.change.rows == made.change.rows, "change \(id)")
            let token = try await owner.query("SELECT token::text FROM changes WHERE id = $1", [id - 1])
            #expect(try token.value(as: String.self) == seen.base.token, "change \(id)")
        }
        // An undo may set a value again.
        for (cell, value) in outcome.written {
            #expect(found["\(cell) = \(value)", default: 0] > 0, "\(cell) = \(value)")
        }
    }
}
