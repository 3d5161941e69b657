import ArgumentParser
import PolicyStore
import Postgres
import UpdatePolicy

/// `versiongate user add`
struct UserAddCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Add a user, or give one another role or password.",
        discussion: """
            On a terminal it asks for the password of a new user. The password is neither an argument nor in any log: \
            PostgreSQL gets a SCRAM verifier of it.

            A user who exists gets the role instead of the one before, and keeps the password unless an option says \
            otherwise.

            Examples:
              versiongate user add anna --role admin
              versiongate user add ci --role planner \\
                --generate-password
              versiongate user add grafana --role viewer \\
                --password-file /run/secrets/grafana
            """
    )

    @Argument(help: ArgumentHelp("The name to log in with.", valueName: "name"))
    var name: String

    @Option(help: "What the user may do: viewer reads, brake also takes away, planner tries edits, admin makes them.")
    var role: Role

    /// What a user may be.
    enum Role: String, CaseIterable, ExpressibleByArgument {
        case viewer, brake, planner, admin

        var userRole: UserRole {
            switch self {
            case .viewer: .viewer
            case .brake: .brake
            case .planner: .planner
            case .admin: .admin
            }
        }
    }

    @Option(
        help: ArgumentHelp("A file whose first line is the password; - reads standard input.", valueName: "file"),
        completion: .file()
    )
    var passwordFile: String?

    @Flag(help: "Make a password and print it, this once.")
    var generatePassword = false

    @Flag(help: "Set no password, for logins by certificate or by the operating system's user.")
    var noPassword = false

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
                try await users.add(name, role: role.userRole, password: password), password, await connection.address
            )
        }
        print(Self.text(name, role.userRole, added, hasPassword: password != nil))
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
