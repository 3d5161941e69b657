import Postgres
import TestDatabase
import Testing

@Suite("Notifications", .database)
struct NotificationTests {
    @Test("A notification wakes a waiting connection")
    func wakes() async throws {
        let listener = try await TestDatabase.current.connect()
        let sender = try await TestDatabase.current.connect()
        try await listener.listen("Policy \"changes\"")
        async let received = listener.notifications(waitingUpTo: .seconds(600))
        try await sender.query("SELECT pg_notify('Policy \"changes\"', $1)", ["ü 1"])
        #expect(try await received == ["ü 1"])
    }

    @Test("A notification that arrives during a query is kept")
    func keepsNotifications() async throws {
        let listener = try await TestDatabase.current.connect()
        let sender = try await TestDatabase.current.connect()
        try await listener.listen("changes")
        try await listener.withSession { session in
            try session.query("SELECT pg_notify('changes', 'own')")
        }
        try await sender.execute("NOTIFY changes, 'first'; NOTIFY changes, 'second'")
        #expect(try await listener.query("SELECT 1").value() == 1)
        var payloads: [String] = []
        while payloads.count < 3 {
            payloads += try await listener.notifications(waitingUpTo: .seconds(600))
        }
        #expect(payloads == ["own", "first", "second"])
    }

    @Test("Without a notification the wait ends at its limit with none")
    func endsAtTheLimit() async throws {
        let listener = try await TestDatabase.current.connect()
        try await listener.listen("changes")
        #expect(try await listener.notifications(waitingUpTo: .milliseconds(20)).isEmpty)
        #expect(try await listener.notifications(waitingUpTo: .zero).isEmpty)
    }

    @Test("Cancelling the task ends the wait and keeps the connection")
    func cancels() async throws {
        let listener = try await TestDatabase.current.connect()
        let sender = try await TestDatabase.current.connect()
        try await listener.listen("changes")
        let task = Task { try await listener.notifications(waitingUpTo: .seconds(600)) }
        task.cancel()
        let error = await #expect(throws: PostgresError.self) { _ = try await task.value }
        #expect(error?.code == .cancelled)
        #expect(await listener.isHealthy)
        try await sender.execute("NOTIFY changes")
        #expect(try await listener.notifications(waitingUpTo: .seconds(600)).count == 1)
    }

    @Test("Losing the server ends the wait")
    func endsWithoutAServer() async throws {
        let listener = try await TestDatabase.current.connect()
        let sender = try await TestDatabase.current.connect()
        try await listener.listen("changes")
        let process: Int32 = try await listener.query("SELECT pg_backend_pid()").value()
        let received = Task { try await listener.notifications(waitingUpTo: .seconds(600)) }
        try await sender.query("SELECT pg_terminate_backend($1)", [process])
        let error = await #expect(throws: PostgresError.self) { _ = try await received.value }
        #expect(error?.code == .connectionLost)
        #expect(await !listener.isHealthy)
    }

    @Test("A name that SQL cannot hold is refused", arguments: ["", "a\0b", String(repeating: "x", count: 64)])
    func refusesNames(name: String) {
        #expect(throws: PostgresError.self) { try PostgresIdentifier(name) }
    }
}
