import CheckListener
import Foundation
import Logging
import PolicyStore
import Postgres
import Synchronization
import TestChecks
import TestDatabase
import TestRandom
import Testing
import UpdatePolicy

@testable import PolicyServer

/// Servers that count for fuses over one database: from the check to the edit.
@Suite("Fuses of a fleet", .timeLimit(.minutes(20)))
struct FuseDeliveryTests {
    private static func server(
        _ policy: CompiledPolicy,
        database: PostgresConfiguration = TestDatabase.current.configuration(user: "versiongate_server")
    ) throws -> CountingServer {
        try CountingServer(policy, clock: CountingServer.now) { database }
    }

    private static let example = """
        INSERT INTO apps (bundle) VALUES ('doto');
        INSERT INTO releases (bundle, platform, version, live_at) VALUES ('doto', 'ios', '2', '2020-01-01Z');
        INSERT INTO rules (key, bundle, versions, enabled, lockout, fuse, title, text, link)
            VALUES ('old', 'doto', '<1.1', true, true, 5, 't', 'x', 'https://a.example');
        """

    private static func policy(_ connection: PostgresConnection) async throws -> CompiledPolicy {
        try CompiledPolicy(try await connection.transaction(.repeatableReadReadOnly) { try PolicyReader.policy($0) })
    }

    private static func edits(_ connection: PostgresConnection) async throws -> Int {
        try await connection.query("SELECT count(*) FROM changes WHERE tool = 'fuse'").value(as: Int.self)
    }

    /// Checks of a fleet, 100,000 an hour by a clock of its own, in which each server writes every ten seconds.
    ///
    /// - Returns: When a fuse has blown, nil if none did, and how many clients were locked out wrongly until then.
    private static func run(
        _ servers: [CountingServer],
        seconds: Int,
        _ owner: PostgresConnection,
        using random: inout SeededGenerator
    ) async throws -> (seconds: Int?, lockedOut: Int) {
        var lockedOut = 0
        // Servers do not write at the same moment.
        let step = 10 / servers.count
        for turn in 1...seconds / step {
            for _ in 0..<(step * 100_000 / 3_600) {
                // 2 % are of the version that is meant, 28 % of one that is not.
                let place = Int.random(in: 0..<100, using: &random)
                let version = place < 2 ? "1.0" : place < 30 ? "1.1" : "1.2"
                let server = servers[Int.random(in: servers.indices, using: &random)]
                if try server.isLockedOut(version, &random), version == "1.1" { lockedOut += 1 }
            }
            // The clock of the database stands still meanwhile, so what it has grows older.
            try await owner.execute(
                """
                DELETE FROM lockout_counts WHERE minute < now() - interval '11 minutes';
                UPDATE lockout_counts SET minute = minute - interval '1 day \(step) seconds';
                UPDATE lockout_counts SET minute = minute + interval '1 day';
                """
            )
            await servers[turn % servers.count].deliver()
            if try await edits(owner) > 0 { return (turn * step, lockedOut) }
        }
        return (nil, lockedOut)
    }

    @Test(
        "A fleet lives with a lockout of 2 %; once an edit makes it hit 30 %, its fuse of 5 % blows in half a minute",
        .migratedDatabase
    )
    func blowsWithinHalfAMinute() async throws {
        var random = SeededGenerator()
        print("fleet: VERSIONGATE_SEED=\(random.seed) repeats this")
        let owner = try await TestDatabase.current.connect()
        try await owner.execute(Self.example)
        let policy = try await Self.policy(owner)
        var servers = [try Self.server(policy), try Self.server(policy)]
        let calmSeconds = Trials.areLong ? 3_600 : 300
        let calm = try await Self.run(servers, seconds: calmSeconds, owner, using: &random)
        #expect(calm.seconds == nil && calm.lockedOut == 0)
        #expect(try await Self.edits(owner) == 0)

        try await owner.execute("UPDATE rules SET versions = '<1.2'")
        for index in servers.indices { servers[index].policy = try await Self.policy(owner) }
        let wrong = try await Self.run(servers, seconds: 600, owner, using: &random)
        let seconds = try #require(wrong.seconds)
        print("fleet: \(wrong.lockedOut) clients were locked out wrongly until the fuse had blown after \(seconds) s")
        #expect(seconds <= 30)
        #expect(wrong.lockedOut < 300)
        for index in servers.indices { servers[index].policy = try await Self.policy(owner) }
        let after = try servers.contains { try $0.isLockedOut("1.1", &random) }
        #expect(!after)
        #expect(try await Self.edits(owner) == 1)
        #expect(servers.reduce(0) { $0 + $1.counting.totals.blownFuses } == 1)
    }

    @Test("A fleet makes one edit, also where a server restarts meanwhile", .migratedDatabase)
    func makesOneEdit() async throws {
        var random = SeededGenerator()
        let owner = try await TestDatabase.current.connect()
        try await owner.execute(Self.example + "UPDATE rules SET versions = '<1.2'")
        let policy = try await Self.policy(owner)
        var servers = [try Self.server(policy), try Self.server(policy)]
        for number in 0..<600 { _ = try servers[number % 2].isLockedOut("1.1", &random) }
        // What one server has is not enough. It ends while the other one writes.
        let ending = servers[0]
        let other = servers[1]
        async let end: Void = ending.deliver(isLast: true)
        async let write: Void = other.deliver()
        _ = await (end, write)
        servers[0] = try Self.server(policy)
        // It has not heard of the edit yet, nor has the other one.
        for number in 0..<1_200 { _ = try servers[number % 2].isLockedOut("1.1", &random) }
        await withTaskGroup(of: Void.self) { tasks in
            for server in servers { tasks.addTask { await server.deliver() } }
        }
        #expect(try await Self.edits(owner) == 1)
        let blown = [ending, other, servers[0]].reduce(0) { $0 + $1.counting.totals.blownFuses }
        #expect(blown == 1)
        #expect([ending, other].contains { $0.log.entries.contains { $0.metadata["fuses.blown"] == "1" } })
    }

    @Test("A blow that was committed is counted, also where its answer was lost", .migratedDatabase)
    func countsWhatWasNotAnswered() async throws {
        var random = SeededGenerator()
        let database = TestDatabase.current
        let owner = try await database.connect()
        try await owner.execute(Self.example + "UPDATE rules SET versions = '<1.2'")
        // The commit of an edit waits for this test.
        try await owner.execute(
            """
            CREATE FUNCTION await_test() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
            BEGIN
                PERFORM set_config('lock_timeout', '0', true);
                PERFORM pg_advisory_xact_lock(36);
                RETURN NULL;
            END $$;
            CREATE CONSTRAINT TRIGGER await_test AFTER INSERT ON changes DEFERRABLE INITIALLY DEFERRED
                FOR EACH ROW EXECUTE FUNCTION await_test();
            """
        )
        let isPatient = Atomic(false)
        let server = try CountingServer(try await Self.policy(owner), clock: CountingServer.now) {
            var configuration = database.configuration(user: "versiongate_server")
            if !isPatient.load(ordering: .relaxed) { configuration.responseTimeout = .seconds(2) }
            return configuration
        }
        for _ in 0..<600 { _ = try server.isLockedOut("1.1", &random) }
        try await owner.execute("SELECT pg_advisory_lock(36)")
        // The server gives its connection up in the middle of the commit.
        await server.deliver()
        isPatient.store(true, ordering: .relaxed)
        let process = try await owner.query(
            """
            SELECT coalesce(max(pid), 0) FROM pg_stat_activity
            WHERE datname = current_database() AND cardinality(pg_blocking_pids(pid)) > 0
            """
        ).value(as: Int32.self)
        #expect(process != 0)
        #expect(server.counting.totals.blownFuses == 0 && server.counting.totals.fuseFailures == 1)
        await server.deliver()
        #expect(server.counting.totals.blownFuses == 0)
        try await owner.execute("SELECT pg_advisory_unlock(36)")
        let isThere = "SELECT count(*) FROM pg_stat_activity WHERE pid = $1"
        while try await owner.query(isThere, [process]).value(as: Int.self) > 0 {}
        // Without anything to write, and once.
        for _ in 0..<2 {
            await server.deliver()
            #expect(server.counting.totals.blownFuses == 1)
        }
        #expect(server.log.entries.contains { $0.metadata["fuses.blown"] == "1" })
        #expect(try await Self.edits(owner) == 1)
    }

    @Test("A blow that was rolled back is not counted", .migratedDatabase)
    func countsNoBlowThatWasRolledBack() async throws {
        let database = TestDatabase.current
        let connection = try await database.connect(user: "versiongate_server")
        let owner = try await database.connect()
        try await owner.execute(Self.example)
        try await owner.execute(
            "INSERT INTO lockout_counts VALUES ('old', 'doto', date_trunc('minute', now()), 600, 600, 9)"
        )
        let blow = try await connection.transaction(
            .readWrite,
            deciding: { session in .rollback(try CountStore.blowFuses(session)) }
        )
        #expect(blow.rules == 1)
        #expect(try await connection.withSession { try CountStore.isCommitted(blow, $0) } == false)
    }

    @Test(
        "A server under its brake counts nothing for fuses: one of 60 % blows by the counts of the other server alone",
        .migratedDatabase
    )
    func leavesOutBrakedServers() async throws {
        var random = SeededGenerator()
        let owner = try await TestDatabase.current.connect()
        try await owner.execute(Self.example + "UPDATE rules SET versions = '<1.2', fuse = 60")
        let policy = try await Self.policy(owner)
        let servers = [try Self.server(policy.sendingLockouts(false)), try Self.server(policy)]
        for server in servers {
            for _ in 0..<1_000 { _ = try server.isLockedOut("1.1", &random) }
            await server.deliver()
        }
        #expect(try await Self.edits(owner) == 1)
        let counted = try await owner.query("SELECT sum(checks)::int8, sum(lockouts)::int8 FROM lockout_counts").first
        #expect(try counted?.decode(0, as: Int64.self) == 1_000)
        #expect(try counted?.decode(1, as: Int64.self) == 1_000)
        #expect(servers.map { $0.counting.totals.blownFuses } == [0, 1])
        // What they counted of checks is of both.
        #expect(servers.allSatisfy { $0.counting.totals.written == 1_000 })
    }

    @Test("A fuse blows once the database is back, and that it could not is said once")
    func blowsWhenTheDatabaseIsBack() async throws {
        var random = SeededGenerator()
        try await OwnServer.with(isMigrated: true) { own in
            let observer = try await own.connect()
            try await observer.execute(Self.example + "UPDATE rules SET versions = '<1.2'")
            let server = try Self.server(
                try await Self.policy(observer), database: own.configuration(user: "versiongate_server")
            )
            _ = try server.isLockedOut("1.1", &random)
            await server.deliver()
            own.kill()
            for _ in 0..<2 {
                for _ in 0..<280 { _ = try server.isLockedOut("1.1", &random) }
                await server.deliver()
            }
            #expect(server.counting.totals.writable == false)
            try await own.ensureRunning()
            for _ in 0..<280 { _ = try server.isLockedOut("1.1", &random) }
            await server.deliver()
            let again = try await own.connect()
            #expect(try await Self.edits(again) == 1)
            #expect(try await again.query("SELECT lockout FROM rules").value(as: Bool.self) == false)
            #expect(server.counting.totals.blownFuses == 1)

            // Without the right to ask, counts are still written.
            try await again.execute("REVOKE EXECUTE ON FUNCTION blow_fuses() FROM versiongate_server")
            for _ in 0..<3 {
                _ = try server.isLockedOut("1.1", &random)
                await server.deliver()
            }
            #expect(server.counting.totals.writable == true && server.counting.totals.fuseFailures == 3)
            let warnings = server.log.entries.filter { $0.level == .warning && $0.message.contains("fuses") }
            #expect(warnings.count == 1)
        }
    }
}

extension CountingServer {
    fileprivate static func now() -> Timestamp {
        Timestamp(microsecondsSince1970: Int64(Date().timeIntervalSince1970 * 1_000_000))
    }

    /// Answers a check of a version, and tells whether it was locked out.
    fileprivate func isLockedOut(_ version: String, _ random: inout SeededGenerator) throws -> Bool {
        let client = try CountedPolicy.client(["version": version, "platform": "ios", "install": "\(random.next())"])
        let now = Self.now()
        let answer = policy.answer(to: client, at: now)
        recorder.record(client, answer, policy, at: now)
        return answer.lockouts > 0
    }
}
