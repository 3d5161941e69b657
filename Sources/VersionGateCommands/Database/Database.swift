import Logging
import PolicyStore
import Postgres
import PrivatePostgres

/// The database that a command works on: the one that is named, or the private one in the state folder.
enum DatabaseSource {
    case named(String)
    case privatePostgres(PrivatePostgres)

    /// Whether versiongate owns the database, and so keeps its schema up to date by itself.
    var isPrivate: Bool {
        if case .privatePostgres = self { true } else { false }
    }

    func name(address: String?) -> String {
        switch self {
        case .named(let named):
            let address = address ?? "the database"
            return PostgresConfiguration(connectionString: named).service.map { "\($0) (\(address))" } ?? address
        case .privatePostgres(let postgres):
            return "private PostgreSQL in \(postgres.stateDirectory)"
        }
    }

    func withDatabase<Result: Sendable>(
        logger: Logger,
        migrating: Bool = true,
        _ body: (RunningDatabase) async throws -> Result
    ) async throws -> Result {
        let database = try await Progress.showing("Starting the private PostgreSQL") { try await start() }
        return try await ending(with: database.end) {
            if migrating, isPrivate {
                try await Progress.showing("Bringing the schema up to date") {
                    try await database.migrate(logger: logger)
                }
            }
            return try await body(database)
        }
    }

    func start() async throws -> RunningDatabase {
        switch self {
        case .named(let address): .named(address)
        case .privatePostgres(let postgres): .leased(try await postgres.start())
        }
    }
}

enum RunningDatabase: Sendable {
    case named(String)
    case leased(PrivatePostgresLease)

    func configuration(as role: DatabaseRole) -> PostgresConfiguration {
        switch self {
        case .named(let address): PostgresConfiguration(connectionString: address)
        case .leased(let lease): lease.configuration(user: role.rawValue)
        }
    }

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
        return try await ending(with: session.end) { try await body(session.connection) }
    }

    func end() async throws {
        if case .leased(let lease) = self { try await lease.releaseAndWait() }
    }

    /// Brings the schema up to date; shows nothing, because a server must not wait for a terminal.
    func migrate(logger: Logger) async throws {
        try await withConnection(as: .owner, logger: logger, on: .file) { connection in
            _ = try await SchemaMigrator(logger: logger).migrate(connection)
        }
    }
}

/// Runs `body`, and `end` after it, also where it fails.
func ending<Result>(
    with end: () async throws -> Void,
    _ body: () async throws -> Result
) async throws -> Result {
    let result: Swift.Result<Result, any Error>
    do {
        result = .success(try await body())
    } catch {
        result = .failure(error)
    }
    try await end()
    return try result.get()
}

/// The role with which a command logs in to the private PostgreSQL. A named database keeps the role of its address.
enum DatabaseRole: String {
    case owner = "versiongate"
    case admin = "versiongate_admin"
    case server = "versiongate_server"
    case viewer = "versiongate_viewer"
}
