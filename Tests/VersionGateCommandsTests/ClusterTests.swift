import Foundation
import Postgres
import TestDatabase
import TestRandom
import Testing

@Suite("Clusters", .whole)
struct ClusterTests {
    /// Makes one edit after the other, each once all servers answer the one before.
    ///
    /// - Returns: The median of the times from a commit until the last server answered with the edit.
    @discardableResult
    private func edit(
        _ names: [String],
        by connection: PostgresConnection,
        seenOn servers: [ServingBinary]
    ) async throws -> Duration {
        var times: [Duration] = []
        for name in names {
            try await connection.query("UPDATE rules SET text = $1", [name])
            let commit = ContinuousClock.now
            for server in servers {
                try await server.check(UpdateRule.client) { $0.contains("\"\(name)\"") }
            }
            times.append(.now - commit)
        }
        return times.sorted()[times.count / 2]
    }

    @Test("An edit is live on two servers of one database", .migratedDatabase)
    func twoServers() async throws {
        let database = TestDatabase.current
        let binary = BuiltBinary.server()
        try await ServingBinary.run(binary) { first in
            try await ServingBinary.run(binary) { second in
                let admin = try await database.connect(user: "versiongate_admin")
                try await admin.execute(UpdateRule.rows)
                let time = try await edit(["one", "two", "three"], by: admin, seenOn: [first, second])
                print("two servers: an edit was live on both after \(time)")
                await admin.close()
            }
        }
    }

    /// The order: a server follows a primary and, by its second host, a standby; another one the standby alone. The
    /// primary is killed, the standby promoted.
    @Test("Servers follow a primary, a standby, and the standby once it is promoted, and no check fails")
    func standbyAndFailover() async throws {
        try await OwnServer.with(isMigrated: true) { primary in
            try await StandbyServer.with(of: primary) { standby in
                let hosts = "\(primary.socketDirectory),\(standby.socketDirectory)"
                let both = "host=\(hosts) port=\(primary.port),5432 user=versiongate_server dbname=versiongate"
                let log = try await run(
                    both,
                    { first in
                        let log = try await run(standby.configuration(user: "versiongate_server").connectionString) {
                            try await failOver(primary, standby, [first, $0])
                        }
                        #expect(log.contains("a standby cannot notify"), "the log of the server on the standby: \(log)")
                        #expect(log.contains("notified at once"), "the log of the server on the standby: \(log)")
                    }
                )
                #expect(log.contains("The connection to the database broke"), "the log of the first server: \(log)")
                let connection = try await standby.connect()
                #expect(try await Self.countedChecks(connection) > 0, "on the promoted standby")
                await connection.close()
            }
        }
    }

    private static func countedChecks(_ connection: PostgresConnection) async throws -> Int64 {
        try await connection.query("SELECT coalesce(sum(checks), 0)::int8 FROM check_counts").value(as: Int64.self)
    }

    /// Runs a server on a database, and returns what it logged.
    private func run(_ database: String, _ body: @Sendable (ServingBinary) async throws -> Void) async throws -> String
    {
        try await ServingBinary.run(BuiltBinary(environment: ["DATABASE_URL": database]), body).errors
    }

    private func failOver(_ primary: OwnServer, _ standby: StandbyServer, _ servers: [ServingBinary]) async throws {
        let count = try await SteadyChecks.at(servers.map(\.publicURL)) {
            let before = try await primary.connect(user: "versiongate_admin")
            try await before.execute(UpdateRule.rows)
            let replicated = try await edit(["one", "two", "three", "four", "five"], by: before, seenOn: servers)
            print("a primary and a standby: an edit was live on both after \(replicated)")
            await before.close()

            primary.kill()
            try await standby.promote()
            let after = try await standby.connect(user: "versiongate_admin")
            try await edit(["after the failover"], by: after, seenOn: servers)
            let promoted = try await edit(["six", "seven", "eight"], by: after, seenOn: servers)
            print("a promoted standby: an edit was live on both after \(promoted)")
            await after.close()
        }
        #expect(count.failures.isEmpty, "of \(count.sent) checks")
        #expect(count.sent >= 8)
    }

    @Test(
        "Edits are live, and the command line works, through PgBouncer in transaction mode",
        .enabled(if: PgBouncer.program != nil, "pgbouncer is not installed"), .migratedDatabase
    )
    func throughPgBouncer() async throws {
        let database = TestDatabase.current
        try await PgBouncer.with(database) { bouncer in
            let log = try await run(bouncer.url(user: "versiongate_server")) { server in
                let direct = try await database.connect(user: "versiongate_admin")
                try await direct.execute(UpdateRule.rows)
                let time = try await edit(["one", "two", "three", "four", "five"], by: direct, seenOn: [server])
                print("PgBouncer: an edit was live after \(time)")
                await direct.close()

                let admin = BuiltBinary(environment: ["DATABASE_URL": bouncer.url(user: "versiongate_admin")])
                for line in ["rule disable update", "history", "rule list", "migrate --status"] {
                    try await admin.succeed(line)
                }
                try await server.check(UpdateRule.client) { $0 == UpdateRule.nothing }
            }
            #expect(log.contains("a pooler stands in between"), "\(log)")
            let connection = try await database.connect()
            #expect(try await Self.countedChecks(connection) > 0, "through the pooler")
            await connection.close()
        }
    }
}
