import Postgres
import TestDatabase
import TestPolicies
import Testing
import UpdatePolicy

/// What a client may not be, for SQL and the engine alike.
@Suite("Check bounds", .migratedDatabase)
struct BoundTests {
    private static let functions = ["messages_for", "explain_check"]

    private static func attributes(_ count: Int) -> ClientDescription {
        var client: ClientDescription = ["bundle": "com.example.doto", "a": .null, "b": .composite("{}"), "c": ""]
        client.append(String(repeating: "n", count: 129), "1")
        client.append("long", .text(String(repeating: "v", count: 1_025)))
        for number in 1...count { client.append("m\(number)", .number("1")) }
        return client
    }

    @Test("65 attributes are refused, 64 and what counts as not sent are not", arguments: functions)
    func attributes(_ function: String) async throws {
        let connection = try await TestDatabase.current.connect()
        try await connection.query("SELECT count(*) FROM \(function)($1::jsonb)", [Self.attributes(64).json])
        #expect(try Self.attributes(64).client().attributes.count == 64)
        let error = await #expect(throws: PostgresError.self) {
            try await connection.query("SELECT count(*) FROM \(function)($1::jsonb)", [Self.attributes(65).json])
        }
        #expect(error?.message == "the client has 65 attributes")
        #expect(error?.hint == "A check may have 64.")
        #expect(throws: ClientError(member: "m65", reason: .tooManyAttributes(maximum: 64))) {
            try Self.attributes(65).client()
        }
    }

    @Test("A bundle of 256 bytes is refused, one of 255 is not", arguments: functions)
    func bundles(_ function: String) async throws {
        let connection = try await TestDatabase.current.connect()
        func client(_ length: Int) -> ClientDescription {
            ["bundle": .text(String(repeating: "\u{E9}", count: length / 2) + (length % 2 == 0 ? "" : "e"))]
        }
        try await connection.query("SELECT count(*) FROM \(function)($1::jsonb)", [client(255).json])
        _ = try client(255).client()
        let error = await #expect(throws: PostgresError.self) {
            try await connection.query("SELECT count(*) FROM \(function)($1::jsonb)", [client(256).json])
        }
        #expect(error?.message == "the client's member \"bundle\" has 256 bytes")
        #expect(throws: ClientError(member: "bundle", reason: .tooLong(maximum: 255))) { try client(256).client() }
    }

    @Test("A check cannot come at an infinite time", arguments: functions, ["infinity", "-infinity"])
    func infiniteTimes(_ function: String, _ time: String) async throws {
        let connection = try await TestDatabase.current.connect()
        try await connection.execute(
            """
            INSERT INTO apps (bundle) VALUES ('a');
            INSERT INTO releases (bundle, platform, version, live_at) VALUES ('a', 'ios', '1.2', '2026-01-01Z');
            INSERT INTO rules (key, bundle, title, text, target) VALUES ('r', 'a', 't', 'x', '1.2')
            """
        )
        let error = await #expect(throws: PostgresError.self) {
            try await connection.query(
                "SELECT count(*) FROM \(function)('{\"bundle\": \"a\", \"platform\": \"ios\"}', $1::timestamptz)",
                [time]
            )
        }
        #expect(error?.message == "a check cannot come at the time \"\(time)\"")
        #expect(error?.hint == "Name a time: now(), '2026-03-01T12:00:00Z'.")
    }
}
