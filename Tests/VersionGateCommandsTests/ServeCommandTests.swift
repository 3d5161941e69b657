import Foundation
import Postgres
import TestDatabase
import TestSystem
import Testing

@Suite("Server")
struct ServeCommandTests {
    @Test("The server has event loops for checks, and one of its own for the management listener")
    func keepsEventLoopsApart() async throws {
        try await ServingBinary.run(.withoutDatabase()) { server in
            let eventLoops = try Self.eventLoops(of: server.processIdentifier)
            let sizes = Dictionary(grouping: eventLoops, by: \.group).values.map(\.count).sorted()
            #expect(sizes.count == 2)
            #expect(sizes.first == 1)
        }
    }

    /// The threads of SwiftNIO in a process, whose names are `NIO-ELT-` and the number of their group, `-#` and their own.
    private static func eventLoops(of process: Int32) throws -> [(thread: Int32, group: Substring)] {
        let folder = "/proc/\(process)/task"
        return try FileManager.default.contentsOfDirectory(atPath: folder).compactMap { thread in
            let name = try String(contentsOfFile: "\(folder)/\(thread)/comm", encoding: .utf8)
            let parts = name.split(separator: "-")
            guard name.hasPrefix("NIO-ELT-"), parts.count == 4, let thread = Int32(thread) else { return nil }
            return (thread, parts[2])
        }
    }

    @Test("The server follows edits that were made while its connections were cut again and again", .migratedDatabase)
    func survivesCutConnections() async throws {
        let database = TestDatabase.current
        try await ServingBinary.run(.server()) { server in
            let admin = try await database.connect()
            try await admin.execute(UpdateRule.rows)
            for round in 1...5 {
                try await admin.execute(
                    """
                    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                    WHERE usename = 'versiongate_server' AND datname = current_database();
                    UPDATE rules SET title = 'Round \(round)';
                    """
                )
                try await server.check(UpdateRule.client) { $0.contains("Round \(round)") }
            }
        }
    }

    @Test("The server on a database without a schema says so and keeps running; with --migrate makes it", .database)
    func migratesOnlyWhenAsked() async throws {
        let binary = BuiltBinary(environment: ["DATABASE_URL": TestDatabase.current.url()])
        try await ServingBinary.run(binary) { server in
            let ready = try await server.ready { $0.contains("versiongate migrate") }
            #expect(ready.status == 503)
        }
        try await ServingBinary.run(binary, arguments: ["--migrate"]) { server in
            let ready = try await server.ready { $0.contains(#""ready":true"#) }
            #expect(ready.status == 200, "\(ready.body)")
            #expect(ready.body.contains(#""source":"database""#) && ready.body.contains(#""database":"up""#))
        }
    }
}
