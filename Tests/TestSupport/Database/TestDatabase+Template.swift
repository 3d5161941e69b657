import PolicyStore
import Postgres

extension TestDatabase {
    /// What every database of the trait `.migratedDatabase` begins with: prepared once per process, then copied.
    static func prepareTemplate(_ configuration: PostgresConfiguration) async throws {
        let connection = try await PostgresConnection.connect(configuration, logger: logger)
        try await SchemaMigrator(logger: logger).migrate(connection)
        await connection.close()
        // A session that begins after the last change leaves what each copy's first one would otherwise read anew.
        let reader = try await PostgresConnection.connect(configuration, logger: logger)
        try await reader.execute("SELECT FROM rules")
        await reader.close()
    }
}
