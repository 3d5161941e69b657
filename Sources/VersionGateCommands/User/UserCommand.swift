import ArgumentParser
import PolicyStore
import Postgres
import PrivatePostgres
import UpdatePolicy

/// `versiongate user`
struct UserCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "user", "Give people and pipelines logins of their own.",
        discussion: """
            A user is a role of the database that is a member of one of versiongate's roles. A viewer reads \
            everything, a brake can also hold and disable rules, take lockouts away and pause apps, a planner can also \
            try edits without making them, an admin edits the policy. The history names users.

            These commands need a role that may create roles: a superuser, or the one that ran migrate.
            """,
        examples: ["versiongate user add anna --role viewer"],
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

/// `versiongate user add`
struct UserAddCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "add", "Add a user, or give one another role or password.",
        discussion: """
            On a terminal it asks for the password of a new user. The password is neither an argument nor in any log: \
            PostgreSQL gets a SCRAM verifier of it.

            A user who exists gets the role instead of the one before, and keeps the password unless an option says \
            otherwise.
            """,
        examples: [
            "versiongate user add anna --role admin",
            "versiongate user add ci --role planner --generate-password",
            "versiongate user add grafana --role viewer --password-file /run/secrets/grafana",
        ]
    )

    @Argument(help: ArgumentHelp("The name to log in with.", valueName: "name")) var name: String

    @Option(help: "What the user may do: viewer reads, brake also takes away, planner tries edits, admin makes them.")
    var role: UserRole

    @Option(
        help: ArgumentHelp("A file whose first line is the password; - reads standard input.", valueName: "file"),
        completion: .file()
    )
    var passwordFile: String?

    @Flag(help: "Make a password and print it, this once.") var generatePassword = false
    @Flag(help: "Set no password, for logins by certificate or by the operating system's user.") var noPassword = false
    @OptionGroup var database: DatabaseOptions

    func validate() throws {
        guard [passwordFile != nil, generatePassword, noPassword].count(where: \.self) <= 1 else {
            throw ValidationError("Use one of --password-file, --generate-password and --no-password.")
        }
    }

    func run() async throws {
        let (added, password, address) = try await database.withUsers { users, connection, _ in
            let exists = try await users.exists(name)
            let password = try newPassword(exists: exists)
            return (
                try await users.add(name, role: role, password: password), password, await connection.address
            )
        }
        print(Self.text(name, role, added, hasPassword: password != nil))
        if generatePassword, let password { print("Password, shown this once: \(password)") }
        if !added.existed, let address {
            print("To log in: DATABASE_URL=\(LoginAddress.text(user: name, address: address).shellWord)")
        }
    }

    private func newPassword(exists: Bool) throws -> String? {
        if let passwordFile { return try NewPassword.read(passwordFile) }
        if generatePassword { return NewPassword.random() }
        if noPassword || exists { return nil }
        guard Terminal.canAsk else {
            throw CommandError(
                "there is no terminal to ask for a password on; use --password-file FILE, --generate-password or "
                    + "--no-password"
            )
        }
        return try NewPassword.ask(for: name)
    }

    private static func text(_ name: String, _ role: UserRole, _ added: AddedUser, hasPassword: Bool) -> String {
        let name = name.visible()
        guard added.existed else {
            return "Added user \(name), \(role.rawValue)\(hasPassword ? "" : ", without a password")."
        }
        let password = hasPassword ? "the password is new" : "the password is as it was"
        switch added.earlier {
        case role: return "User \(name) is \(role.rawValue) as before; \(password)."
        case let earlier?: return "User \(name) was \(earlier.rawValue) and is \(role.rawValue) now; \(password)."
        case nil: return "The role \(name) was there; it is \(role.rawValue) now; \(password)."
        }
    }
}

extension UserRole: ExpressibleByArgument {
    /// The roles of people and pipelines.
    package static var allValueStrings: [String] { allCases.filter { $0 != .server }.map(\.rawValue) }

    package init?(argument: String) {
        guard Self.allValueStrings.contains(argument) else { return nil }
        self.init(rawValue: argument)
    }
}

/// `versiongate user remove`
struct UserRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "remove", "Remove a user; the history keeps the name.",
        discussion:
            "Sessions that the user has open can do nothing more. On a terminal it asks; in scripts it needs --yes.",
        examples: ["versiongate user remove anna"]
    )

    @Argument(help: ArgumentHelp("The name of the user.", valueName: "name")) var name: String
    @Flag(help: "Remove the user without a question.") var yes = false
    @OptionGroup var database: DatabaseOptions

    func run() async throws {
        let place = try await database.withUsers { users, _, place in
            guard let user = try await users.list().first(where: { $0.name == name }) else {
                throw PolicyUserError.isUnknown(name)
            }
            try EditApproval.require(
                ["this removes the user \(name.visible()) (\(user.role.rawValue))"], on: place, yes: yes
            )
            try await users.remove(name)
            return place
        }
        print("Removed user \(name.visible()) from \(place.visible()).")
    }
}
