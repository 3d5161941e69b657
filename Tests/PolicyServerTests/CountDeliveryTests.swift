import Foundation
import Logging
import Postgres
import TestChecks
import TestDatabase
import Testing

@testable import PolicyServer

@Suite("Count delivery")
struct CountDeliveryTests {
    /// How many dropped checks the messages tell; the notices of PostgreSQL are not among them.
    private static func droppedChecks(_ counter: CountingServer) -> [Logger.Level: String] {
        let messages = counter.log.entries.compactMap { entry in
            entry.metadata["counts.dropped"].map { (entry.level, $0) }
        }
        return Dictionary(messages) { "\($0), \($1)" }
    }

    private static let sum = "SELECT coalesce(sum(checks), 0)::bigint FROM check_counts"

    @Test("The delivery adds what was counter, once, as the server's role", .migratedDatabase)
    func delivers() async throws {
        let database = TestDatabase.current
        let counter = try CountingServer(CountedPolicy.policy()) { database.configuration(user: "versiongate_server") }
        let observer = try await database.connect()
        await counter.deliver()
        #expect(counter.counting.totals.writable == nil)
        try counter.answer(["version": "1.0"], times: 3)
        await counter.deliver()
        await counter.deliver()
        try counter.answer(["version": "1.0"], times: 4)
        await counter.deliver(isLast: true)
        #expect(try await observer.query(Self.sum).value(as: Int64.self) == 7)
        let rules = try await observer.query(
            "SELECT rule || ' ' || sent || ' ' || lockouts FROM rule_counts ORDER BY 1"
        )
        #expect(try rules.map { try $0.decode(0, as: String.self) } == ["old 7 7", "update 7 0"])
        let status = counter.counting.totals
        #expect(status.recorded == 7 && status.written == 7 && status.dropped == 0)
        #expect(status.writable == true)
        #expect(status.lastWritten == CountedPolicy.noon)
        #expect(counter.log.entries.isEmpty)
    }

    @Test("The delivery keeps counts over one failed attempt, drops and counts them after it, and says so once")
    func dropsWhenTheDatabaseIsAway() async throws {
        try await OwnServer.with(isMigrated: true) { server in
            let observer = try await server.connect()
            let counter = try CountingServer(CountedPolicy.policy()) {
                server.configuration(user: "versiongate_server")
            }
            try counter.answer(["version": "1.0"], times: 1)
            await counter.deliver()

            let backends = try await observer.query(
                "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend'"
            ).map { try $0.decode("pid", as: Int32.self) }
            server.kill()
            // The backends of a killed server end by themselves, and not before they notice.
            while backends.contains(where: Self.isRunning) { await Task.yield() }
            for checks in [10, 100, 1_000, 10_000] {
                try counter.answer(["version": "1.0"], times: checks)
                await counter.deliver()
            }
            #expect(counter.counting.totals.dropped == 1_110)
            #expect(counter.counting.totals.writable == false)
            #expect(Self.droppedChecks(counter) == [.warning: "10"])

            try await server.ensureRunning()
            await counter.deliver(isLast: true)
            let again = try await server.connect()
            #expect(try await again.query(Self.sum).value(as: Int64.self) == 10_001)
            let status = counter.counting.totals
            #expect(status.recorded == 11_111 && status.written == 10_001 && status.dropped == 1_110)
            #expect(Self.droppedChecks(counter) == [.warning: "10", .notice: "1110"])
        }
    }

    /// Whether a process of this machine runs; one that has ended and was not waited for does not.
    private static func isRunning(_ process: Int32) -> Bool {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/exe")) != nil
    }

    @Test("The delivery drops at once what may have been written already", .migratedDatabase)
    func neverCountsTwice() async throws {
        let database = TestDatabase.current
        let owner = try await database.connect()
        try await owner.execute(
            """
            CREATE FUNCTION break_off() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS
                'BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END';
            CREATE CONSTRAINT TRIGGER break_off AFTER INSERT ON rule_counts DEFERRABLE INITIALLY DEFERRED
                FOR EACH ROW EXECUTE FUNCTION break_off();
            """
        )
        let counter = try CountingServer(CountedPolicy.policy()) { database.configuration(user: "versiongate_server") }
        try counter.answer(["version": "1.0"], times: 3)
        await counter.deliver()
        #expect(counter.counting.totals.dropped == 3)
        try await owner.execute("DROP TRIGGER break_off ON rule_counts")
        try counter.answer(["version": "1.0"], times: 4)
        await counter.deliver(isLast: true)
        #expect(try await owner.query(Self.sum).value(as: Int64.self) == 4)
    }

    @Test(
        "The delivery does not wait for a database that is slow, and writes the counts when it is not",
        .migratedDatabase
    )
    func boundsTheWait() async throws {
        let database = TestDatabase.current
        let counter = try CountingServer(CountedPolicy.policy()) { database.configuration(user: "versiongate_server") }
        let owner = try await database.connect()
        try counter.answer(["version": "1.0"], times: 3)
        let locker = try await database.connect()
        _ = try await locker.query("SELECT pg_advisory_lock(1)")
        try await owner.execute(
            """
            CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS
                'BEGIN PERFORM pg_advisory_xact_lock(1); RETURN NULL; END';
            CREATE TRIGGER wait BEFORE INSERT ON rule_counts FOR EACH STATEMENT EXECUTE FUNCTION wait();
            """
        )
        await counter.delivery.deliver(isLast: false, within: .milliseconds(300))
        #expect(counter.counting.totals.writable == false)
        #expect(counter.counting.totals.dropped == 0)
        await locker.close()
        try await owner.execute("DROP TRIGGER wait ON rule_counts")
        await counter.deliver(isLast: true)
        #expect(counter.counting.totals.written == 3)
        #expect(try await owner.query(Self.sum).value(as: Int64.self) == 3)
    }

    @Test("The delivery drops counts, and says why, where the schema has no tables for them", .database)
    func reportsAnOldSchema() async throws {
        let database = TestDatabase.current
        let counter = try CountingServer(CountedPolicy.policy()) { database.configuration() }
        for _ in 0..<2 {
            try counter.answer(["version": "1.0"], times: 1)
            await counter.deliver()
        }
        #expect(counter.counting.totals.dropped == 1)
        #expect(counter.log.entries.first?.metadata["error"]?.contains("check_counts") == true)
        try counter.answer(["version": "1.0"], times: 1)
        await counter.deliver(isLast: true)
        #expect(counter.counting.totals.dropped == 3)
    }
}
