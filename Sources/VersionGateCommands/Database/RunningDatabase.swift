import Logging
import PolicyStore
import Postgres
import PrivatePostgres

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

    /// An address that psql, run by the same user, accepts.
    var psqlAddress: String {
        switch self {
        case .named(let address): address
        case .leased(let lease): lease.url(user: DatabaseRole.admin.rawValue)
        }
    }

    /// Leaves the lease, if there is one, to the program that replaces this process.
    func keepOverExec() {
        if case .leased(let lease) = self { lease.keepOverExec() }
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
