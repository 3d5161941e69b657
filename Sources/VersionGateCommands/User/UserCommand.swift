import ArgumentParser
import PolicyStore
import Postgres
import PrivatePostgres

/// `versiongate user`
struct UserCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "user",
        abstract: "Give people and pipelines logins of their own.",
        discussion: """
            A user is a role of the database that is a member of one of versiongate's roles. A viewer reads \
            everything, a brake can also hold and disable rules, take lockouts away and pause apps, a planner can also \
            try edits without making them, an admin edits the policy. The history names users.

            These commands need a role that may create roles: a superuser, or the one that ran migrate.

            Example:
              versiongate user add anna --role viewer
            """,
        subcommands: [UserAddCommand.self, UserListCommand.self, UserRemoveCommand.self]
    )
}

extension DatabaseOptions {
    /// Runs `body` with the users of a database that has a name.
    ///
    /// - Throws: `CommandError` for the private PostgreSQL, which nobody but its own user and root can reach.
    func withUsers<Result: Sendable>(
        _ body: (_ users: PolicyUsers, _ connection: PostgresConnection, _ name: String) async throws -> Result
    ) async throws -> Result {
        if case .privatePostgres(let postgres) = try source() {
            throw CommandError(
                "the private PostgreSQL in \(postgres.stateDirectory) lets in root and its own user alone, so it has no "
                    + "users; for people with logins of their own use another PostgreSQL: --database-url or DATABASE_URL"
            )
        }
        return try await withConnection(as: .owner) { connection, logger, name in
            try await SchemaMigrator(logger: logger).status(connection).requireReadable()
            do {
                return try await body(PolicyUsers(connection), connection, name)
            } catch let error as PolicyUserError {
                throw CommandError(error.description(command: PrintedCommand.text))
            }
        }
    }
}
