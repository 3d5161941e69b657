import Foundation
import Postgres
import TestDatabase
import TestRandom
import Testing
import UpdatePolicy

@testable import PolicyStore

/// What the migrations do in databases in which others have rights that they must not have, owned by a role that is no
/// superuser; what `schema_faults` finds is in `Tests/Cases/sql/schema-faults.case`.
@Suite("Schema faults", .whole)
struct SchemaFaultTests {
    private let migrator = SchemaMigrator(logger: TestDatabase.logger)

    /// Runs `body` with a server whose database belongs to test_alice, and with connections as a superuser and as her.
    private func withOwner(
        _ attributes: String,
        _ body: (OwnServer, _ superuser: PostgresConnection, _ owner: PostgresConnection) async throws -> Void
    ) async throws {
        try await OwnServer.with { server in
            let superuser = try await server.connect()
            try await superuser.execute(
                "CREATE ROLE test_alice LOGIN \(attributes); ALTER DATABASE versiongate OWNER TO test_alice"
            )
            let owner = try await server.connect(user: "test_alice")
            try await body(server, superuser, owner)
            await owner.close()
            await superuser.close()
        }
    }

    @Test("The rights to make roles may be missing: then all the statements are said at once")
    func namesAllMissingRoles() async throws {
        try await withOwner("") { _, superuser, owner in
            let refusal = await #expect(throws: PostgresError.self) { try await migrator.migrate(owner) }
            #expect(
                refusal?.message
                    == "missing roles: versiongate_server, versiongate_viewer, versiongate_brake, versiongate_planner, "
                    + "versiongate_admin, and test_alice may not create them"
            )
            let cure = try #require(refusal?.hint?.split(separator: ": ").last)
            #expect(
                cure
                    == ["server", "viewer", "brake", "planner", "admin"].map { "CREATE ROLE versiongate_\($0) LOGIN;" }
                    .joined(separator: " ")
            )
            try await superuser.execute(String(cure))
            try await migrator.migrate(owner)
            // Settings of roles that somebody else made are not hers to change.
            #expect(try await migrator.faults(owner).filter { $0.remedy.contains("ALTER ROLE") }.count == 5)
        }
    }

    @Test("The rights to make a schema may be missing: then the statement is said")
    func namesMissingRightToCreate() async throws {
        try await withOwner("CREATEROLE") { _, superuser, owner in
            try await superuser.execute(
                "ALTER DATABASE versiongate OWNER TO versiongate; ALTER SCHEMA public OWNER TO test_alice"
            )
            let refusal = await #expect(throws: PostgresError.self) { try await migrator.migrate(owner) }
            #expect(refusal?.message == "test_alice may not create a schema in the database versiongate")
            let cure = try #require(refusal?.hint?.split(separator: ": ").last)
            #expect(cure == "GRANT CREATE ON DATABASE versiongate TO test_alice;")
            try await superuser.execute(String(cure))
            #expect(try await migrator.migrate(owner) == Migration.all.map(\.name))
        }
    }

    @Test("The rights let a role change its own settings, which ours do not follow")
    func pinsSettings() async throws {
        try await withOwner("CREATEROLE") { server, _, owner in
            try await migrator.migrate(owner)
            let role = try await server.connect(user: "versiongate_admin")
            for setting in [
                "search_path = pg_temp", "default_transaction_read_only = on", "statement_timeout = '1ms'",
                "lock_timeout = '1ms'", "client_min_messages = error", "standard_conforming_strings = off",
                "idle_session_timeout = '1min'", "idle_in_transaction_session_timeout = '1min'", "DateStyle = 'German'",
                "IntervalStyle = 'iso_8601'",
            ] {
                try await role.execute("ALTER ROLE CURRENT_USER SET \(setting)")
            }
            await role.close()
            let admin = try await server.connect(user: "versiongate_admin")
            let edited = try await PolicyTransaction(admin, logger: TestDatabase.logger)
                .commit(by: EditAuthor(osUser: nil, why: nil)) { editor in
                    try editor.insert([.init(\App.bundle, "a")])
                }
            #expect(edited?.id == 1)
            let settings = try await admin.query(
                """
                SELECT concat_ws('; ', current_setting('search_path'), current_setting('default_transaction_read_only'),
                    current_setting('statement_timeout'), current_setting('lock_timeout'),
                    current_setting('client_min_messages'), current_setting('standard_conforming_strings'),
                    current_setting('idle_session_timeout'), current_setting('idle_in_transaction_session_timeout'),
                    current_setting('DateStyle'), current_setting('IntervalStyle'))
                """
            )
            #expect(
                try settings.value(as: String.self)
                    == "public, pg_temp; off; 0; 10s; notice; on; 0; 5min; ISO, YMD; postgres"
            )
            await admin.close()
        }
    }
}
