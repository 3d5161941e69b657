import Glibc
import Logging
import Postgres
import TestDatabase
import TestSystem
import Testing

@testable import PolicyPages

@Suite("Database of pages", .migratedDatabase)
struct PageDatabaseTests {
    private let database = Self.database(idleTime: .seconds(30))

    private static func database(idleTime: Duration) -> PageDatabase {
        PageDatabase(
            on: PageThread(),
            idleTime: idleTime,
            configuration: { [database = TestDatabase.current] in
                PostgresConfiguration(connectionString: database.url(user: "versiongate_viewer"))
            },
            logger: Logger(label: "test")
        )
    }

    @Test("The database is read in one snapshot that cannot write, with a bound on each statement")
    func reads() async throws {
        let settings = try await database.read { session in
            try ["transaction_read_only", "transaction_isolation", "statement_timeout", "lock_timeout"].map {
                try session.query("SELECT current_setting($1)", [$0]).value(as: String.self)
            }
        }
        #expect(settings == ["on", "repeatable read", "2s", "500ms"])
        await #expect(throws: PageDatabase.Fault.self) {
            try await database.read { try $0.execute("INSERT INTO apps (bundle) VALUES ('a')") }
        }
    }

    @Test("The database is given up where a statement takes too long, and asked again by the next page")
    func tooSlow() async throws {
        do {
            try await database.read { try $0.execute("SET LOCAL statement_timeout = 1; SELECT pg_sleep(60)") }
            Issue.record("it ended")
        } catch {
            guard case PageDatabase.Fault.tooSlow = error else { throw error }
        }
        #expect(try await database.read { try $0.query("SELECT 1").value(as: Int32.self) } == 1)
    }

    @Test("What the role may not read is told with the role")
    func forbidden() async throws {
        do {
            try await database.read { try $0.execute("SELECT * FROM pg_authid") }
            Issue.record("it may")
        } catch {
            guard case PageDatabase.Fault.forbidden(let role, _) = error else { throw error }
            #expect(role == "versiongate_viewer")
        }
    }

    @Test("The connection is closed some time after its last use, and opened again by the next page")
    func closesIdle() async throws {
        let database = Self.database(idleTime: .milliseconds(1))
        func process() async throws -> Int32 {
            try await database.read { try $0.query("SELECT pg_backend_pid()").value(as: Int32.self) }
        }
        for _ in 1...2 {
            let process = try await process()
            try await Poll.until("the end of the idle connection") {
                try await TestDatabase.current.psql(
                    "SELECT count(*) FROM pg_stat_activity WHERE pid = \(process)"
                ).output == "0\n"
            }
        }
    }

    @Test("Pages that come at once are read for by one connection")
    func readsByOne() async throws {
        let processes = try await withThrowingTaskGroup { [database] group in
            for _ in 1...4 {
                group.addTask {
                    try await database.read { try $0.query("SELECT pg_backend_pid()").value(as: Int32.self) }
                }
            }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(processes.count == 1)
    }

    @Test("The thread of the pages has a lower priority")
    func hasLowPriority() async throws {
        let thread = Int32(PRIO_PROCESS.rawValue)
        let usual = getpriority(thread, 0)
        let niceness = try await database.read { _ in getpriority(thread, 0) }
        #expect(niceness == max(usual, PageThread.niceness))
    }
}
