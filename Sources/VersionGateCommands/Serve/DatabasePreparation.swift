import Logging
import PolicyStore
import Postgres
import PrivatePostgres

/// Prepares the database for a server: starts the private one, and migrates where the server may do that.
actor DatabasePreparation {
    private let source: DatabaseSource
    private let migrates: Bool
    private let logger: Logger
    private var running: RunningDatabase?
    /// The migration, which several connections wait for.
    private var migration: Task<Void, any Error>?

    /// How long the server waits for a silent database, and to connect, which takes five round trips; checks and other
    /// attempts do not wait meanwhile.
    private static let timeout: Duration = .seconds(10)

    init(source: DatabaseSource, migrates: Bool, logger: Logger) {
        self.source = source
        self.migrates = migrates
        self.logger = logger
    }

    /// Starts the private PostgreSQL, so that a failure is reported at the start, and again where it died.
    @discardableResult
    func start() async throws -> RunningDatabase {
        let database: RunningDatabase
        switch (running, source) {
        case (let running?, _): database = running
        case (nil, .named(let address)): database = .named(address)
        case (nil, .privatePostgres(let postgres)): database = .leased(try await postgres.start())
        }
        running = database
        if case .leased(let lease) = database { try await lease.ensureRunning() }
        return database
    }

    /// The database, which is migrated once.
    private func database() async throws -> RunningDatabase {
        let database = try await start()
        if migrates { try await migrate(database) }
        return database
    }

    /// The configuration for a connection of the server.
    ///
    /// - Parameter role: Who logs in to the private PostgreSQL; an address says that itself.
    func configuration(as role: DatabaseRole = .server) async throws -> PostgresConfiguration {
        var configuration = try await database().configuration(as: role)
        configuration.applicationName = "versiongate serve"
        configuration.responseTimeout = Self.timeout
        configuration.connectTimeout = Self.timeout
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
    nonisolated func addExample() async throws -> Bool {
        try await database().withConnection(as: .admin, logger: logger, on: .file) { connection in
            try await ExamplePolicy.add(PolicyEditing(connection, logger: logger))
        }
    }

    /// Stops the private PostgreSQL unless others use it.
    func finish() async throws {
        if case .leased(let lease)? = running { try await lease.releaseAndWait() }
        running = nil
    }
}
