import TestDatabase
import Testing

/// What takes a database without a schema; the rest is in `Tests/Cases/commands/database.case`.
@Suite("Database commands", .database)
struct DatabaseCommandTests {
    @Test("The commands say that the schema is missing, create it, say what is applied, and apply nothing twice")
    func migrates() async throws {
        let versiongate = BuiltBinary(environment: ["DATABASE_URL": TestDatabase.current.url()])
        let missing = try await versiongate.run("app list")
        #expect(missing.status == 1 && missing.errors.contains("versiongate migrate"), "\(missing.errors)")
        #expect(try await versiongate.run("migrate --status --format json").output.contains("pending"))
        let first = try await versiongate.run("migrate")
        #expect(first.status == 0 && first.output.contains("Applied 0001"), "\(first.errors)")
        #expect(try await versiongate.run("migrate").output == "The schema is up to date.\n")
        #expect(!(try await versiongate.run("migrate --status").output.contains("pending")))
    }
}
