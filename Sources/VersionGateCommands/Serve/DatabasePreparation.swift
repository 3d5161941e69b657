import Logging
import PolicyStore
import Postgres
import PrivatePostgres

/// Prepares the database for a server: starts the private one, and migrates where the server may do that.
actor DatabasePreparation {
    private let source: DatabaseSource
    private let migrates: Bool
    private let logger: Logger
    private var lease: PrivatePostgresLease?
    /// The migration, which several connections wait for.
    private var migration: Task<Void, any Error>?

    /// How long the server waits for a silent database; checks do not wait meanwhile.
    private static let responseTimeout: Duration = .seconds(10)
    /// The same for connecting, which takes five round trips; attempts overlap, so a slow one does not delay the others.
    private static let connectTimeout: Duration = .seconds(10)

    init(source: DatabaseSource, migrates: Bool, logger: Logger) {
        self.source = source
        self.migrates = migrates
        self.logger = logger
    }

    /// Starts the private PostgreSQL, so that a failure is reported at the start.
    func startPrivateDatabase() async throws {
        if case .privatePostgres(let postgres) = source, lease == nil {
            lease = try await postgres.start()
        }
    }

    /// The configuration for a connection of the server; restarts a private PostgreSQL that died, and migrates once.
    ///
    /// - Parameter role: Who logs in to the private PostgreSQL; an address says that itself.
    func configuration(as role: DatabaseRole = .server) async throws -> PostgresConfiguration {
        let database: RunningDatabase
        switch source {
        case .named(let address, _):
            database = .named(address)
        case .privatePostgres:
            try await startPrivateDatabase()
            guard let lease else { preconditionFailure("the private PostgreSQL was started above") }
            try await lease.ensureRunning()
            database = .leased(lease)
        }
        if migrates { try await migrate(database) }
        var configuration = database.configuration(as: role)
        configuration.applicationName = "versiongate serve"
        configuration.responseTimeout = Self.responseTimeout
        configuration.connectTimeout = Self.connectTimeout
        return configuration
    }

    /// Migrates once, whether the schema can be brought up to date or not; again if the database did not answer.
    private func migrate(_ database: RunningDatabase) async throws {
        let migration =
            self.migration
            ?? Task { [logger] in
                do {
                    try await database.migrate(logger: logger)
                } catch let error as SchemaError {
                    logger.error("The schema cannot be brought up to date", metadata: ["error": "\(error)"])
                } catch let error as PostgresError where error.code == .server {
                    // The database answers, and refuses to migrate; what is in it may still be read.
                    let reason = [error.message, error.hint].compactMap(\.self).joined(separator: "; ")
                    logger.error("The schema cannot be brought up to date", metadata: ["error": "\(reason)"])
                }
            }
        self.migration = migration
        do {
            try await migration.value
        } catch {
            self.migration = nil
            throw error
        }
    }

    /// Gives an empty policy in the private PostgreSQL the example.
    ///
    /// - Returns: Whether the app of the example is there.
    func addExample() async throws -> Bool {
        var configuration = try await configuration(as: .admin)
        configuration.applicationName = "versiongate"
        let connection = try await PostgresConnection.connect(configuration, logger: logger)
        let result: Result<Bool, any Error>
        do {
            result = .success(try await ExamplePolicy.add(PolicyEditing(connection, logger: logger)))
        } catch {
            result = .failure(error)
        }
        await connection.close()
        return try result.get()
    }

    /// Stops the private PostgreSQL unless others use it.
    func finish() async throws {
        try await lease?.releaseAndWait()
        lease = nil
    }
}
