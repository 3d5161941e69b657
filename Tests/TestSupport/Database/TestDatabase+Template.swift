import Foundation
import PolicyStore
import Postgres

extension TestDatabase {
    /// What every database of the trait `.migratedDatabase` begins with: prepared once per process, then copied.
    static func prepareTemplate(_ configuration: PostgresConfiguration) async throws {
        let connection = try await PostgresConnection.connect(configuration, logger: logger)
        try await migrate(connection)
        await connection.close()
        // A session that begins after the last change leaves what each copy's first one would otherwise read anew.
        let reader = try await PostgresConnection.connect(configuration, logger: logger)
        try await reader.execute("SELECT FROM rules")
        await reader.close()
    }

    /// Makes the schema, and puts the fault of `VERSIONGATE_MUTANT_SQL` into it, where `Tests/Mutants` names a file.
    static func migrate(_ connection: PostgresConnection) async throws {
        try await SchemaMigrator(logger: logger).migrate(connection)
        guard let file = ProcessInfo.processInfo.environment["VERSIONGATE_MUTANT_SQL"] else { return }
        do {
            try await connection.execute(String(contentsOfFile: file, encoding: .utf8))
        } catch {
            preconditionFailure("the mutant does not load: \(error)")
        }
    }
}
