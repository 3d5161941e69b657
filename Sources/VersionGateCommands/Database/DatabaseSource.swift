import Logging
import PolicyStore
import Postgres
import PrivatePostgres

/// The database that a command works on: the one that is named, or the private one in the state folder.
enum DatabaseSource {
    /// A database of the user's, by its address, and the context that has it, if one does.
    case named(String, context: String? = nil)
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
        case .named(_, let context):
            let address = address ?? "the database"
            return context.map { "\($0) (\(address))" } ?? address
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
        case .named(let address, _):
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
