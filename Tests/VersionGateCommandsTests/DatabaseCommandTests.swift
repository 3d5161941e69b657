import Postgres
import TestDatabase
import Testing

@Suite("Database commands", .database)
struct DatabaseCommandTests {
    private func owner() -> BuiltBinary {
        BuiltBinary(environment: ["DATABASE_URL": TestDatabase.current.url()])
    }

    @Test("The commands create the schema, say what is applied, and apply nothing twice")
    func migrates() async throws {
        let versiongate = owner()
        let before = try await versiongate.run("migrate --status --format json")
        #expect(before.output.contains("pending"))
        let first = try await versiongate.run("migrate")
        #expect(first.status == 0, "\(first.errors)")
        #expect(first.output.contains("Applied 0001"))
        #expect(try await versiongate.run("migrate").output == "The schema is up to date.\n")
        #expect(!(try await versiongate.run("migrate --status").output.contains("pending")))
    }

    @Test("The commands say that the schema is missing, and how to make it")
    func saysThatTheSchemaIsMissing() async throws {
        let result = try await owner().run("app list")
        #expect(result.status == 1)
        #expect(result.errors.contains("versiongate migrate"))
    }

    @Test("The commands say that the schema is newer, and refuse to edit but not to show")
    func refusesANewerSchema() async throws {
        let versiongate = owner()
        try await versiongate.run("migrate")
        let connection = try await TestDatabase.current.connect()
        try await connection.execute(
            "INSERT INTO versiongate_internal.schema_migrations (name, checksum) VALUES ('9999_future', 'x')"
        )
        let edit = try await versiongate.run("app add a")
        #expect(edit.status == 1)
        #expect(edit.errors.contains("9999_future"))
        #expect(try await versiongate.run("app list").status == 0)
    }

    @Test("The commands say that the database cannot be reached, without its password")
    func hidesPasswords() async throws {
        let versiongate = BuiltBinary(environment: ["DATABASE_URL": "postgresql://u:geheim@127.0.0.1:1/x"])
        let result = try await versiongate.run("app list")
        #expect(result.status == 1)
        #expect(result.errors.contains("DATABASE_URL"))
        #expect(!result.errors.contains("geheim"))
    }

    @Test("The commands open psql with the address of the database")
    func opensPsql() async throws {
        let versiongate = owner()
        try await versiongate.run("migrate")
        let result = try await versiongate.run(arguments: [
            "database", "psql", "--", "-Atc", "SELECT count(*) FROM rules",
        ])
        #expect(result.output == "0\n", "\(result.errors)")
        #expect(try await versiongate.run(arguments: ["database", "psql", "--", "-c", "nonsense"]).status != 0)
        #expect(try await versiongate.run("database url").output == TestDatabase.current.url() + "\n")
    }
}
