import ArgumentParser
import Foundation
import PolicyStore
import Postgres
import PrivatePostgres
import Reports
import UpdatePolicy

struct UserCommand: AsyncParsableCommand {
    static let configuration = command(
        "user", "Give people and pipelines their own logins.", "versiongate user add anna --role viewer",
        discussion: """
            A user is a role of the database that is a member of one of versiongate's roles. A viewer reads \
            everything, a brake can also hold and disable rules, take lockouts away and pause apps, a planner can also \
            try edits without making them, an admin edits the policy. The history names users.

            These commands need a role that may create roles: a superuser, or the one that ran migrate.
            """,
        subcommands: [UserAddCommand.self, UserListCommand.self, UserRemoveCommand.self]
    )
}

extension DatabaseOptions {
    /// Runs `body` with the users of a database that others can reach than its own user and root.
    func withUsers<Result: Sendable>(
        _ body: (_ users: PolicyUsers, _ connection: PostgresConnection, _ name: String) async throws -> Result
    ) async throws -> Result {
        if case .privatePostgres(let postgres) = try source() {
            throw CommandError(
                "the private PostgreSQL in \(postgres.stateDirectory) accepts only root and its own user, so it has no "
                    + "logins to manage; to give people their own logins, use another PostgreSQL: --database-url or DATABASE_URL"
            )
        }
        return try await withConnection(as: .owner) { connection, logger, name in
            try await SchemaMigrator(logger: logger).status(connection).requireReadable()
            return try await body(PolicyUsers(connection), connection, name)
        }
    }
}

struct UserAddCommand: AsyncParsableCommand {
    static let configuration = command(
        "add", "Add a user, or change the role or password of one.",
        "versiongate user add anna --role admin", "versiongate user add ci --role planner --generate-password",
        "versiongate user add grafana --role viewer --password-file /run/secrets/grafana",
        discussion: """
            On a terminal it asks for the password of a new user. The password is neither an argument nor in any log: \
            PostgreSQL gets a SCRAM verifier of it.

            An existing user gets the role in place of the old one, and keeps the password unless an option says \
            otherwise.
            """
    )

    @Argument(help: ArgumentHelp("The name to log in with.", valueName: "name")) var name: String
    @Option(help: "What the user may do: viewer reads, brake also takes away, planner tries edits, admin makes them.")
    var role: UserRole
    @Option(file: "A file whose first line is the password; - reads standard input.") var passwordFile: String?
    @Flag(help: "Generate a password and print it, only this once.") var generatePassword = false
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
            return (try await users.add(name, role: role, password: password), password, await connection.address)
        }
        print(Self.text(name, role, added, hasPassword: password != nil))
        if generatePassword, let password { print("Password, shown this once: \(password)") }
        if !added.existed, let address {
            print("To log in: DATABASE_URL=\(Self.address(of: name, on: address).shellWord)")
        }
    }

    /// - Parameter address: Host, or the folder of the socket, port and database, as a connection gives it.
    private static func address(of user: String, on address: String) -> String {
        let name = user.percentEncoded
        guard address.hasPrefix("/"), let colon = address.lastIndex(of: ":") else {
            return "postgresql://\(name)@\(address)"
        }
        let portAndDatabase = address[address.index(after: colon)...].split(separator: "/", maxSplits: 1)
        let (port, database) = (portAndDatabase.first ?? "", portAndDatabase.last ?? "")
        return "postgresql://\(name)@/\(database)?host=\(address[..<colon])&port=\(port)"
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
        let password = hasPassword ? "the password is new" : "the password is unchanged"
        switch added.earlier {
        case role: return "User \(name) is \(role.rawValue) as before; \(password)."
        case let earlier?: return "User \(name) was \(earlier.rawValue) and is \(role.rawValue) now; \(password)."
        case nil: return "The role \(name) already existed; it is \(role.rawValue) now; \(password)."
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

struct UserListCommand: AsyncParsableCommand {
    static let configuration = command(
        "list", "List the users with their roles.", "versiongate user list",
        discussion: "Superusers and the owner of the database may do everything, and are not listed."
    )

    @OptionGroup var output: OutputOptions
    @OptionGroup var database: DatabaseOptions

    func run() async throws {
        let users = try await database.withUsers { users, _, _ in try await users.list() }
        let table = Table(
            ifEmpty: "No users. Add one: \(command: "user add NAME --role viewer")", users,
            columns: [
                Column("Name", json: "name", isName: true) { .text($0.name) },
                Column("Role", json: "role") { .text($0.role.rawValue) },
                Column("Last edit", json: "last_edit") {
                    .sentence($0.lastEdit.map { "\(time: $0)" }, json: $0.lastEdit)
                },
            ]
        )
        output.print(Report(at: .now(), table))
    }
}

struct UserRemoveCommand: AsyncParsableCommand {
    static let configuration = command(
        "remove", "Remove a user; the history keeps the name.", "versiongate user remove anna",
        discussion: "The user's open sessions can do nothing any more."
    )

    @Argument(help: ArgumentHelp("The name of the user.", valueName: "name")) var name: String
    @Flag(help: "Remove the user without a question, as scripts must.") var yes = false
    @OptionGroup var database: DatabaseOptions

    func run() async throws {
        let place = try await database.withUsers { users, _, place in
            guard let user = try await users.list().first(where: { $0.name == name }) else {
                throw PolicyUserError.isUnknown(name)
            }
            try EditOptions.requireApproval(
                ["this removes the user \(name.visible()) (\(user.role.rawValue))"], on: place, yes: yes
            )
            try await users.remove(name)
            return place
        }
        print("Removed user \(name.visible()) from \(place.visible()).")
    }
}

enum NewPassword {
    private static let characters = Array("abcdefghijkmnpqrstuvwxyz23456789")

    /// Of 130 random bits, without characters that are taken for others.
    static func random() -> String {
        var random = SystemRandomNumberGenerator()
        return String((0..<26).map { _ in characters.randomElement(using: &random) ?? "a" })
    }

    static func read(_ path: String) throws -> String {
        let text = try InputFile.text(path, upTo: 65_536, what: "the file with the password")
        return try judged(String(text.prefix { $0 != "\n" }), " in \(path == "-" ? "standard input" : path)")
    }

    static func ask(for name: String) throws -> String {
        let password = try judged(try Terminal.secret("Password of \(name.visible()): "))
        guard try Terminal.secret("Again: ") == password else {
            throw CommandError("the two passwords differ; nothing was changed")
        }
        return password
    }

    private static func judged(_ password: String, _ place: String = "") throws -> String {
        if password.count >= 8 { return password }
        throw CommandError("the password\(place) has fewer than 8 characters; nothing was changed")
    }
}

extension Terminal {
    /// Asks a question whose answer is not shown. An interruption ends the line, so that the echo is first switched on again.
    static func secret(_ question: String) throws -> String {
        var usual = termios()
        guard tcgetattr(STDIN_FILENO, &usual) == 0 else { throw CommandError("standard input is not a terminal") }
        var silent = usual
        silent.c_lflag &= ~tcflag_t(ECHO | ISIG)
        silent.c_iflag |= tcflag_t(IUTF8)
        let interruption: UInt8 = 0x03
        withUnsafeMutableBytes(of: &silent.c_cc) { $0[Int(VEOL)] = interruption }
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent)
        defer { tcsetattr(STDIN_FILENO, TCSAFLUSH, &usual) }
        print(question, terminator: "")
        fflush(nil)
        defer { print("") }
        // The terminal keeps no longer line.
        var typed = [UInt8](repeating: 0, count: 4_096)
        let count = read(STDIN_FILENO, &typed, typed.count)
        let line = typed.prefix(max(0, count))
        guard line.last == UInt8(ascii: "\n") else { throw CommandError("cancelled; nothing was changed") }
        return String(decoding: line.dropLast(), as: UTF8.self)
    }
}
