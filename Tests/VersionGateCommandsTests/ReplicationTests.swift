import Foundation
import Postgres
import TestDatabase
import TestRandom
import TestSystem
import Testing

/// Copies of a database that are kept up to date by PostgreSQL, and take no edit.
@Suite("Replication", .whole)
struct ReplicationTests {
    private static func execute(_ url: String, _ statements: String...) async throws {
        let connection = try await PostgresConnection.connect(
            PostgresConfiguration(connectionString: url), logger: TestDatabase.logger
        )
        for statement in statements { try await connection.execute(statement) }
        await connection.close()
    }

    @Test("Every command that edits says that a standby only reads, and how to name the primary")
    func standby() async throws {
        try await OwnServer.with(isMigrated: true) { primary in
            try await Self.execute(
                primary.url(),
                """
                INSERT INTO apps (bundle) VALUES ('com.example.doto');
                INSERT INTO releases (bundle, platform, version, live_at) VALUES ('com.example.doto', 'ios', '1.2', now());
                INSERT INTO rules (key, title, text, enabled) VALUES ('hello', 't', 'x', true);
                """
            )
            try await StandbyServer.with(of: primary) { standby in
                let (folder, file) = (standby.socketDirectory, "policy.yaml")
                func binary(_ user: String) -> BuiltBinary {
                    BuiltBinary(environment: ["DATABASE_URL": standby.configuration(user: user).connectionString])
                }
                let admin = binary("versiongate_admin")
                try await StateFolder.with { state in
                    let export = try await admin.run("export")
                    #expect(export.output.contains("text: x"))
                    try export.output.replacing("text: x", with: "text: y").write(
                        toFile: "\(state.path)/\(file)", atomically: true, encoding: .utf8
                    )
                    #expect(export.status == 0, "\(export.errors)")
                    let edits = [
                        "rule disable hello --yes", "rule disable hello --dry-run", "undo 1 --yes",
                        "app pause com.example.doto --yes", "release add com.example.doto 1.3 --platform ios",
                        "release withdraw com.example.doto 1.2 --yes", "rule remove hello --yes",
                        "plan \(state.path)/\(file)", "apply --yes \(state.path)/\(file)",
                    ]
                    let owned = ["migrate", "user add anna --role viewer --no-password"]
                    for (user, lines) in [("versiongate_admin", edits), ("versiongate", owned)] {
                        for line in lines {
                            let result = try await binary(user).run(line)
                            #expect(result.status == 1, "\(line): \(result.output)")
                            #expect(
                                result.errors.contains(
                                    "\(folder):5432/versiongate is a standby, which only reads; nothing was changed"
                                )
                                    && result.errors.contains("target_session_attrs=read-write"),
                                "\(line): \(result.errors)"
                            )
                        }
                    }
                }
                for line in ["status", "history", "rule list", "migrate --status"] { try await admin.succeed(line) }
            }
        }
    }

    /// The subscriber is a copy with tables of its own, so the row of policy_revision never arrives.
    @Test(
        "A subscriber of logical replication is named by status, by migrate --status and in the log, and takes no edit"
    )
    func subscriber() async throws {
        try await OwnServer.with(isMigrated: true, settings: ["wal_level": "logical"]) { server in
            let copy = "subscriber"
            try await Self.execute(server.url(database: "postgres"), "CREATE DATABASE \(copy) TEMPLATE versiongate")
            try await Self.execute(
                server.url(), "CREATE PUBLICATION policy FOR TABLES IN SCHEMA public",
                "SELECT pg_create_logical_replication_slot('policy', 'pgoutput')"
            )
            let subscriber = server.url(database: copy)
            try await Self.execute(
                subscriber,
                """
                CREATE SUBSCRIPTION policy CONNECTION '\(server.url())' PUBLICATION policy
                WITH (create_slot = false, slot_name = 'policy')
                """
            )
            let rule = "INSERT INTO rules (key, title, text, enabled) VALUES ('hello', 't', 'x', true)"
            try await Self.execute(server.url(), rule)

            let fault = "the subscription policy writes the policy of this database"
            let cure = "Let servers and commands use the publisher or a streaming standby of it"
            let admin = BuiltBinary(
                environment: ["DATABASE_URL": server.url(user: "versiongate_admin", database: copy)]
            )
            try await Poll.until("the rule to arrive") { try await admin.run("rule show hello").status == 0 }
            let status = try await admin.run("status --format json")
            #expect(status.status == 0 && status.output.contains(fault) && status.output.contains(cure))
            let migrations = try await admin.run("migrate --status")
            #expect(migrations.errors.contains("Warning: \(fault)") && migrations.errors.contains("Hint: \(cure)"))
            let log = try await ServingBinary.run(
                BuiltBinary(environment: ["DATABASE_URL": server.url(user: "versiongate_server", database: copy)])
            ) { _ = try await $0.ready { $0.contains("\"database\":\"up\"") } }.errors
            #expect(log.contains("This database cannot be followed") && log.contains(fault), "\(log)")

            let refused = try await admin.run("rule disable hello --yes")
            #expect(refused.status == 1)
            #expect(refused.errors.contains("\(fault)\n") && refused.errors.contains("Hint: Edit at the publisher"))
            let refusal = await #expect(throws: PostgresError.self) {
                try await Self.execute(subscriber, "DELETE FROM rules")
            }
            #expect(refusal?.message == fault)

            try await Self.execute(subscriber, "DROP SUBSCRIPTION policy")
            #expect(try await !admin.run("status").output.contains(fault))
        }
    }
}
