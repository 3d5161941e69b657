import Foundation
import Postgres
import TestDatabase
import TestSystem
import Testing

/// What takes servers; the rest is in `Tests/Cases/commands/status.case`.
@Suite("Status", .migratedDatabase, .timeLimit(.minutes(20)))
struct StatusCommandTests {
    private var versiongate: BuiltBinary { BuiltBinary(.current) }

    private struct Status: Decodable {
        let servers: [Server]
        let goneServers: [GoneServer]

        struct Server: Decodable {
            let address: String
            let revision: Int
        }
        struct GoneServer: Decodable {
            let name: String
        }
    }

    private func status(_ binary: BuiltBinary) async throws -> Status {
        let result = try await binary.succeed("status --format json")
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode(Status.self, from: Data(result.utf8))
    }

    @Test("The status lists the servers with the revision that answers, and follows them through edits")
    func listsServers() async throws {
        try await versiongate.run("app add a")
        let server = BuiltBinary.server()
        try await ServingBinary.run(server) { serving in
            for revision in 1...2 {
                try await Poll.until("a server at revision \(revision)") {
                    try await status(versiongate).servers.map(\.revision) == [revision]
                }
                let port = try #require(serving.publicURL.split(separator: ":").last)
                try await Poll.until("the address of the server") {
                    try await status(versiongate).servers.allSatisfy { $0.address.hasSuffix(":\(port)") }
                }
                let text = try await versiongate.run("status").output
                #expect(text.contains(try Regex(":\(port) +\(revision)\n")), "\(text)")
                try await versiongate.run("app edit a --name A\(revision)")
            }
            // What a server that has not taken the last edits shows.
            let forged = try await TestDatabase.current.connect(user: "versiongate_server")
            try await forged.execute("SET application_name = 'versiongate serve at revision 1 on z-late'")
            let text = try await versiongate.run("status").output
            #expect(text.contains(/z-late +1 +2 behind\n/), "\(text)")
            await forged.close()
        }
        try await Poll.until("no server") { try await status(versiongate).servers.isEmpty }
    }

    @Test("The status and the overview list servers that were there and are gone, and not those that are there")
    func listsGoneServers() async throws {
        try await versiongate.run("app add a")
        let owner = try await TestDatabase.current.connect()
        let server = BuiltBinary.server()
        let counting = ["--count-interval", "1"]
        try await ServingBinary.run(server, arguments: counting) { staying in
            try await ServingBinary.run(server, arguments: counting) { going in
                for serving in [staying, going] {
                    let port = try #require(serving.publicURL.split(separator: ":").last)
                    try await Poll.until("the server is noted") {
                        try await owner.query(
                            "SELECT count(*) = 1 FROM versiongate_internal.server_sightings WHERE revision = 1 AND name LIKE $1",
                            ["%:\(port)"]
                        ).value(as: Bool.self)
                    }
                }
                kill(going.processIdentifier, SIGKILL)
            }
            // In place of five minutes.
            try await owner.execute(
                "UPDATE versiongate_internal.server_sightings SET seen_at = now() - interval '5 minutes'"
            )
            try await Poll.until("one is gone") { try await status(versiongate).goneServers.count == 1 }
            let found = try await status(versiongate)
            #expect(found.servers.map(\.revision) == [1])
            #expect(found.goneServers[0].name != found.servers[0].address)
            let line = try await versiongate.run("status").output
            #expect(
                line.contains(/[!-~]+:[0-9]+ +1 +gone( from [0-9.:]+)?, last seen 5 min ago/),
                "\(line)"
            )
            let page = try await staying.management("/").body
            #expect(
                page.contains("\(found.goneServers[0].name)</th>") && page.contains("5 min ago</time>")
            )
        }
        try await owner.execute(
            "UPDATE versiongate_internal.server_sightings SET seen_at = now() - interval '61 minutes'"
        )
        #expect(try await status(versiongate).goneServers.isEmpty)
    }

    /// What the sessions of the server call themselves.
    private func serverNames() async throws -> [String] {
        try await TestDatabase.current.psql(
            """
            SELECT DISTINCT application_name FROM pg_stat_activity
            WHERE datname = current_database() AND usename = 'versiongate_server' ORDER BY 1
            """
        ).output.split(separator: "\n").map(String.init)
    }

    @Test("The status knows a server by the name that its address gives its sessions, too")
    func keepsNames() async throws {
        try await versiongate.run("app add a")
        let url = TestDatabase.current.url(user: "versiongate_server")
        let server = BuiltBinary(environment: ["DATABASE_URL": "\(url)&application_name=gate-of-tests-in-Berlin"])
        try await ServingBinary.run(server, arguments: ["--count-interval", "0"]) { _ in
            try await Poll.until("a server at revision 1") {
                try await status(versiongate).servers.map(\.revision) == [1]
            }
            #expect(try await serverNames().first?.hasPrefix("gate-of-tests-in-Ber at revision 1 on ") == true)
        }
    }

    @Test(
        "The status lists no server behind a pooler, whose sessions others use as well",
        .enabled(if: PgBouncer.program != nil, "pgbouncer is not installed")
    )
    func behindPooler() async throws {
        try await versiongate.run("app add a")
        try await PgBouncer.with(.current) { bouncer in
            let server = BuiltBinary(environment: ["DATABASE_URL": bouncer.url(user: "versiongate_server")])
            try await ServingBinary.run(server, arguments: ["--count-interval", "0"]) { serving in
                _ = try await serving.ready { $0.contains(#""revision":1"#) }
                try await versiongate.run("rule add k --bundle a --title T --text X --enable")
                try await serving.check(#"{"bundle":"a"}"#) { $0.contains(#""id":"k""#) }
                #expect(try await status(versiongate).servers.isEmpty)
                #expect(try await serverNames().allSatisfy { !$0.contains("revision") })
            }
        }
    }
}
