import Foundation
import Postgres
import Synchronization
import TestDatabase
import TestRandom
import TestSystem
import Testing

@Suite("Counting", .whole)
struct CountingTests {
    /// How many checks the load tests send.
    private static let checks = LoadedChecks.count

    private static let connections = 8

    private static let policy = """
        SET versiongate.consent = 'blocked';
        INSERT INTO apps (bundle) VALUES ('com.example.doto');
        INSERT INTO rules (key, bundle, versions, title, text, enabled)
        VALUES ('update', 'com.example.doto', '<1.5', 'Please update', '2.0 is there.', true);
        INSERT INTO rules (key, bundle, versions, title, text, enabled, lockout, lockout_without_update)
        VALUES ('blocked', 'com.example.doto', '1.3.x', 'Too old', 'This version is blocked.', true, true, true);
        """

    /// A server that has the policy, when `body` runs.
    private func serve(
        _ arguments: [String],
        _ body: @Sendable (ServingBinary) async throws -> Void
    ) async throws -> ServingBinary.Ending {
        _ = try await TestDatabase.current.psql(Self.policy)
        return try await ServingBinary.run(.server(), arguments: arguments, body)
    }

    /// The member `counting` of `/policy`.
    private func counting(_ server: ServingBinary) async throws -> [String: Any] {
        let document = try await server.management("/policy").body
        let object = try JSONSerialization.jsonObject(with: Data(document.utf8)) as? [String: Any]
        return try #require(object?["counting"] as? [String: Any])
    }

    private func rows(_ connection: PostgresConnection) async throws -> [String: [Int]] {
        var rows: [String: [Int]] = [:]
        let query = """
            SELECT concat_ws(' ', coalesce(bundle, '-'), coalesce(platform, '-'), coalesce(version, '-'),
                coalesce(build, '-'), coalesce(region, '-'), coalesce(os, '-')),
                sum(checks)::bigint, sum(messages)::bigint, sum(lockouts)::bigint
            FROM check_counts GROUP BY 1
            UNION ALL SELECT rule, sum(sent)::bigint, sum(lockouts)::bigint, 0 FROM rule_counts GROUP BY 1
            """
        for row in try await connection.query(query) {
            rows[try row.decode(0, as: String.self)] = try (1...3).map { Int(try row.decode($0, as: Int64.self)) }
        }
        return rows
    }

    /// Sends checks of random clients, each connection a part of them.
    ///
    /// - Returns: What must have been counted.
    private func load(_ server: ServingBinary, checks: Int) async throws -> LoadedChecks {
        try await withThrowingTaskGroup(of: LoadedChecks.self) { tasks in
            for connection in 0..<Self.connections {
                tasks.addTask {
                    var part = LoadedChecks()
                    let share = checks / Self.connections + (connection < checks % Self.connections ? 1 : 0)
                    var left = share
                    let answered = try await CheckPipeline.run(server.publicURL) {
                        guard left > 0 else { return nil }
                        left -= 1
                        return part.next()
                    }
                    #expect(answered == share)
                    return part
                }
            }
            return try await tasks.reduce(into: LoadedChecks()) { $0.add($1) }
        }
    }

    @Test("The sums in the database equal the checks of random clients that were sent", .migratedDatabase)
    func countsUnderLoad() async throws {
        let sent = Mutex(LoadedChecks())
        let ending = try await serve(["--count-interval", "1"]) { server in
            let loaded = try await load(server, checks: Self.checks)
            sent.withLock { $0 = loaded }
            let counting = try await counting(server)
            #expect(counting["recorded"] as? Int == Self.checks)
            #expect(counting["beyondBound"] as? Int == 0)
        }
        #expect(ending.status == 0, "\(ending.errors)")
        let counted = try await rows(TestDatabase.current.connect())
        let expected = sent.withLock { $0 }
        #expect(expected.checks == Self.checks)
        #expect(counted == expected.rows)
    }

    @Test("Kinds beyond the bound are counted together, and none is lost", .migratedDatabase)
    func keepsTheBound() async throws {
        let beyondBound = Mutex(0)
        let ending = try await serve(["--count-keys", "100"]) { server in
            _ = try await load(server, checks: 5_000)
            let counting = try await counting(server)
            beyondBound.withLock { $0 = counting["beyondBound"] as? Int ?? 0 }
        }
        #expect(ending.status == 0, "\(ending.errors)")
        let observer = try await TestDatabase.current.connect()
        #expect(try await observer.query("SELECT sum(checks)::bigint FROM check_counts").value(as: Int64.self) == 5_000)
        // An hour may end during the test.
        #expect(try await observer.query("SELECT count(*) <= 202 FROM check_counts").value(as: Bool.self))
        // One app, whose versions are no releases, has four parts of five of three quarters.
        #expect(try await observer.query("SELECT count(*) >= 55 FROM check_counts").value(as: Bool.self))
        let merged = try await observer.query("SELECT coalesce(sum(checks), 0)::bigint FROM merged_counts")
        #expect(try merged.value(as: Int.self) == beyondBound.withLock { $0 })
        #expect(beyondBound.withLock { $0 } > 0)
    }

    @Test("Counts are written when the server is told to end, those of requests under way too", .migratedDatabase)
    func writesAtTheEnd() async throws {
        let answered = Mutex(0)
        let ending = try await serve(["--count-interval", "3600"]) { server in
            try await withThrowingTaskGroup(of: Int.self) { tasks in
                for _ in 0..<Self.connections {
                    tasks.addTask {
                        var part = LoadedChecks()
                        var left = 100_000
                        return try await CheckPipeline.run(server.publicURL) {
                            left -= 1
                            return left > 0 ? part.next() : nil
                        }
                    }
                }
                // The load is under way once the server has counted some of it.
                try await Poll.until("2,000 counted checks") {
                    try await counting(server)["recorded"] as? Int ?? 0 >= 2_000
                }
                kill(server.processIdentifier, SIGTERM)
                let total = try await tasks.reduce(0, +)
                answered.withLock { $0 = total }
            }
        }
        #expect(ending.status == 0, "\(ending.errors)")
        let observer = try await TestDatabase.current.connect()
        let counted = try await observer.query("SELECT sum(checks)::bigint FROM check_counts").value(as: Int64.self)
        #expect(counted == Int64(answered.withLock { $0 }))
        #expect(counted >= 2_000)
    }

    @Test("While the database is away every check is answered, and what is dropped is counted and reported")
    func dropsWhenTheDatabaseIsAway() async throws {
        try await OwnServer.with(isMigrated: true) { database in
            let url = database.url(user: "versiongate_server")
            let owner = try await database.connect()
            try await owner.execute(Self.policy)
            let final = Mutex(["": 0])
            let ending = try await ServingBinary.run(
                BuiltBinary(environment: ["DATABASE_URL": url]), arguments: ["--count-interval", "1"]
            ) { server in
                var sent = try await load(server, checks: 2_000).checks
                try await Poll.until("the counts to be written") {
                    try await counting(server)["written"] as? Int == 2_000
                }
                database.kill()
                while try await (counting(server)["dropped"] as? Int ?? 0) == 0 {
                    sent += try await load(server, checks: 1_000).checks
                }
                #expect(try await server.check(#"{"bundle":"com.example.doto","version":"1.4"}"#).contains("update"))
                sent += 1
                try await database.ensureRunning()
                sent += try await load(server, checks: 1_000).checks
                var document: [String: Any] = [:]
                try await Poll.until("the last counts to be written or dropped") {
                    document = try await counting(server)
                    let settled = (document["written"] as? Int ?? 0) + (document["dropped"] as? Int ?? 0)
                    return document["recorded"] as? Int == settled
                }
                #expect(document["recorded"] as? Int == sent)
                #expect(document["writable"] as? Bool == true)
                let numbers = document.compactMapValues { $0 as? Int }
                final.withLock { $0 = numbers }
            }
            #expect(ending.status == 0)
            #expect(ending.errors.contains("Counts of checks are dropped"), "\(ending.errors)")
            #expect(ending.errors.contains("Counts of checks are written again"), "\(ending.errors)")
            let again = try await database.connect()
            let counted = try await again.query("SELECT sum(checks)::bigint FROM check_counts").value(as: Int64.self)
            #expect(Int(counted) == final.withLock { $0["written"] })
        }
    }
}
