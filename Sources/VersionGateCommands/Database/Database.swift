import Logging
import PolicyStore
import Postgres
import PrivatePostgres

/// The database that a command works on: the one that is named, or the private one in the state folder.
enum DatabaseSource {
    /// A database of the user's, by its address.
    case named(String)
    /// The private PostgreSQL in a state folder.
    case privatePostgres(PrivatePostgres)

    /// Whether versiongate owns the database, and so keeps its schema up to date by itself.
    var isPrivate: Bool {
        if case .privatePostgres = self { true } else { false }
    }

    /// The name of the database in messages, without any password.
    ///
    /// - Parameter address: Host, port and database, as a connection gives them.
    func name(address: String?) -> String {
        switch self {
        case .named(let named):
            let address = address ?? "the database"
            return PostgresConfiguration(connectionString: named).service.map { "\($0) (\(address))" } ?? address
        case .privatePostgres(let postgres):
            return "private PostgreSQL in \(postgres.stateDirectory)"
        }
    }

    /// Runs `body` with a running database; a private one is started if needed and migrated first.
    func withDatabase<Result: Sendable>(
        logger: Logger,
        migrating: Bool = true,
        _ body: (RunningDatabase) async throws -> Result
    ) async throws -> Result {
        switch self {
        case .named(let address):
            return try await body(.named(address))
        case .privatePostgres(let postgres):
            let lease = try await Progress.showing("Starting the private PostgreSQL") { try await postgres.start() }
            let result: Swift.Result<Result, any Error>
            do {
                if migrating {
                    try await Progress.showing("Bringing the schema up to date") {
                        try await RunningDatabase.leased(lease).migrate(logger: logger)
                    }
                }
                result = .success(try await body(.leased(lease)))
            } catch {
                result = .failure(error)
            }
            try await lease.releaseAndWait()
            return try result.get()
        }
    }
}

/// A running database: a named one, or the private one under a lease.
enum RunningDatabase: Sendable {
    case named(String)
    case leased(PrivatePostgresLease)

    /// How to connect as a role.
    func configuration(as role: DatabaseRole) -> PostgresConfiguration {
        switch self {
        case .named(let address): PostgresConfiguration(connectionString: address)
        case .leased(let lease): lease.configuration(user: role.rawValue)
        }
    }

    /// Runs `body` with a connection.
    ///
    /// - Parameters:
    ///   - terminal: Shows that connecting takes long.
    ///   - onNotice: Receives the notices of the database, such as the warnings of its guards.
    func withConnection<Result: Sendable>(
        as role: DatabaseRole,
        logger: Logger,
        on terminal: Terminal = .standardError,
        onNotice: (@Sendable (PostgresNotice) -> Void)? = nil,
        _ body: (PostgresConnection) async throws -> Result
    ) async throws -> Result {
        let session = try await Progress.showing("Connecting to the database", on: terminal) {
            try await CommandContext.current.openSession(configuration(as: role), logger, onNotice)
        }
        let result: Swift.Result<Result, any Error>
        do {
            result = .success(try await body(session.connection))
        } catch {
            result = .failure(error)
        }
        await session.end()
        return try result.get()
    }

    /// Brings the schema up to date; shows nothing, because a server must not wait for a terminal.
    func migrate(logger: Logger) async throws {
        try await withConnection(as: .owner, logger: logger, on: .file) { connection in
            _ = try await SchemaMigrator(logger: logger).migrate(connection)
        }
    }
}

/// The role with which a command logs in to the private PostgreSQL. A named database keeps the role of its address.
enum DatabaseRole: String {
    /// Owns the schema; migrates.
    case owner = "versiongate"
    /// Edits the policy.
    case admin = "versiongate_admin"
    /// Reads the policy.
    case server = "versiongate_server"
    /// Reads everything.
    case viewer = "versiongate_viewer"
}
