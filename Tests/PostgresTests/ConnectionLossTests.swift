import Glibc
import Postgres
import TestDatabase
import TestSystem
import Testing

@Suite("Connection loss", .database)
struct ConnectionLossTests {
    /// Returns when the server shows a process as busy with a statement that sleeps.
    private func untilSleeping(_ process: Int32, _ observer: PostgresConnection) async throws {
        let sql = "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE pid = $1 AND wait_event = 'PgSleep')"
        try await Poll.until("the statement to sleep") { try await observer.query(sql, [process]).value(as: Bool.self) }
    }

    private func processID(_ connection: PostgresConnection) async throws -> Int32 {
        try await connection.query("SELECT pg_backend_pid()").value()
    }

    @Test("A terminated connection ends the query with the server's reason")
    func tellsTheReason() async throws {
        let connection = try await TestDatabase.current.connect()
        let observer = try await TestDatabase.current.connect()
        let process = try await processID(connection)
        let sleep = Task { try await connection.query("SELECT pg_sleep(600)") }
        try await untilSleeping(process, observer)
        try await observer.query("SELECT pg_terminate_backend($1)", [process])
        let error = await #expect(throws: PostgresError.self) { _ = try await sleep.value }
        #expect(error?.code == .connectionLost)
        #expect(error?.sqlState?.rawValue == "57P01")
        #expect(await !connection.isHealthy)
        let next = await #expect(throws: PostgresError.self) { try await connection.query("SELECT 1") }
        #expect(next?.code == .closed)
    }

    @Test("A server killed in mid-query ends the query, and a new connection works when it is back")
    func survivesAKilledServer() async throws {
        try await OwnServer.with { server in
            let connection = try await server.connect()
            let observer = try await server.connect()
            let process = try await processID(connection)
            let sleep = Task { try await connection.query("SELECT pg_sleep(600)") }
            try await untilSleeping(process, observer)
            server.kill()
            _ = kill(process, SIGKILL)
            let error = await #expect(throws: PostgresError.self) { _ = try await sleep.value }
            #expect(error?.code == .connectionLost)

            try await server.ensureRunning()
            let again = try await server.connect()
            #expect(try await again.query("SELECT 1").value() == 1)
        }
    }

    @Test("A suspended server ends a query at the response timeout, also while it is sent", arguments: [1, 16 << 20])
    func endsAtTheResponseTimeout(length: Int) async throws {
        var configuration = TestDatabase.current.configuration()
        configuration.responseTimeout = .milliseconds(200)
        let connection = try await PostgresConnection.connect(configuration, logger: TestDatabase.logger)
        let process = try await processID(connection)
        _ = kill(process, SIGSTOP)
        defer { _ = kill(process, SIGCONT) }
        let text = String(repeating: "x", count: length)
        let error = await #expect(throws: PostgresError.self) { try await connection.query("SELECT $1::text", [text]) }
        #expect(error?.code == .timeout)
        #expect(error?.description == "timeout: the server did not answer within 0.2 seconds; the connection is closed")
        #expect(await !connection.isHealthy)
    }

    @Test("A session can wait less long than the configuration says, and the next one waits as long again")
    func waitsLessLong() async throws {
        let connection = try await TestDatabase.current.connect()
        let answer = try await connection.withSession(waitingUpTo: .seconds(30)) {
            try $0.query("SELECT 1").value(as: Int.self)
        }
        #expect(answer == 1)
        try await connection.query("SELECT pg_sleep(0.3)")
        let error = await #expect(throws: PostgresError.self) {
            try await connection.withSession(waitingUpTo: .milliseconds(100)) {
                _ = try $0.query("SELECT pg_sleep(60)")
            }
        }
        #expect(error?.description == "timeout: the server did not answer within 0.1 seconds; the connection is closed")
    }

    @Test("Cancelling the task ends a query at once and closes the connection")
    func cancelsQueries() async throws {
        let connection = try await TestDatabase.current.connect()
        let observer = try await TestDatabase.current.connect()
        let process = try await processID(connection)
        let task = Task { try await connection.query("SELECT pg_sleep(600)") }
        try await untilSleeping(process, observer)
        task.cancel()
        let error = await #expect(throws: PostgresError.self) { _ = try await task.value }
        #expect(error?.code == .cancelled)
        #expect(await !connection.isHealthy)
    }

    @Test(
        "A task cancelled before its transaction or within it is rolled back, and leaves the connection usable",
        arguments: [true, false]
    )
    func cancelsTransactions(isEarly: Bool) async throws {
        let connection = try await TestDatabase.current.connect()
        let task = Task {
            if isEarly { withUnsafeCurrentTask { $0?.cancel() } }
            try await connection.transaction { session in
                try session.execute("CREATE TABLE t (id int)")
                withUnsafeCurrentTask { $0?.cancel() }
                try session.execute("SELECT 1")
            }
        }
        let error = await #expect(throws: PostgresError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        #expect(try await connection.query("SELECT to_regclass('t') IS NULL").value())
    }

    @Test("A closed connection says so, and closing twice is harmless")
    func closesTwice() async throws {
        let connection = try await TestDatabase.current.connect()
        await connection.close()
        await connection.close()
        let error = await #expect(throws: PostgresError.self) { try await connection.execute("SELECT 1") }
        #expect(error?.code == .closed)
        #expect(await connection.address == nil)
    }
}
