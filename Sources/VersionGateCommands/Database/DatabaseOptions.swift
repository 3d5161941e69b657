import ArgumentParser
import Foundation
import Logging
import PolicyStore
import Postgres
import PrivatePostgres

struct DatabaseOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The PostgreSQL database, as a URL, as keywords and values, or as a service of libpq: service=prod. "
                + "(environment: DATABASE_URL, or PGSERVICE for the name of a service)",
            discussion:
                "Prefer the environment for an address with a password: others can read arguments until they are wiped.",
            valueName: "url"
        )
    )
    var databaseURL: String?
    @Option(
        "path",
        "The folder of the private PostgreSQL, which is used when no database is named. (environment: VERSIONGATE_STATE_DIR)"
    )
    var stateDir: String?
    @Flag(
        name: .customLong("private"),
        help: "Use the private PostgreSQL even if DATABASE_URL or PGSERVICE is set, and make it if there is none."
    )
    var usesPrivate = false

    func validate() throws {
        if databaseURL == "" {
            throw ValidationError("--database-url is empty; give the address of the database, or leave the option out.")
        }
        if databaseURL != nil, usesPrivate {
            throw ValidationError("--private and --database-url name two databases; leave one out.")
        }
    }

    func source() throws -> DatabaseSource {
        guard let named = try named() else {
            return .privatePostgres(PrivatePostgres(stateDirectory: try stateDirectory(), logger: Self.logger))
        }
        let address = named.address
        if let quote = address.first, quote == "\"" || quote == "'" {
            throw CommandError(
                "\(named.by) begins with the quote \(quote), which is part of it; take the quotes out of the value"
            )
        }
        // libpq takes any other text for the name of a database on this machine.
        guard address.hasPrefix("postgres://") || address.hasPrefix("postgresql://") || address.contains("=") else {
            let scheme = address.firstRange(of: "://").map { "begins with \(address[..<$0.upperBound]), which" }
            throw CommandError(
                "\(named.by) \(scheme ?? "has neither \"postgresql://\" nor \"=\" in it, so it") is not the address of a "
                    + "PostgreSQL database; write postgresql://USER@HOST/DATABASE, or host=HOST dbname=DATABASE user=USER"
            )
        }
        let settings = try? PostgresConfiguration(connectionString: address).environment()
        if databaseURL != nil, settings?["PGPASSWORD"] != nil { ProcessArguments.hide(address) }
        return .named(address)
    }

    /// What names the database, and its address; nil for the private one.
    ///
    /// An option wins over the environment. Of two variables none does: they are refused. So is an empty one: a secret that is
    /// missing must not lead to another database.
    private func named() throws -> (by: String, address: String)? {
        if usesPrivate { return nil }
        if let databaseURL { return ("--database-url", databaseURL) }
        let environment = CommandContext.current.environment
        let given = ["DATABASE_URL", "PGSERVICE"].filter { environment[$0] != nil }
        guard let name = given.first, let value = environment[name] else { return nil }
        guard given.count == 1 else {
            throw CommandError(
                "DATABASE_URL and PGSERVICE both name a database; unset one of them, or choose here with --database-url"
            )
        }
        let isService = name == "PGSERVICE"
        guard !value.isEmpty else {
            throw CommandError(
                "\(name) is set but empty; set it to \(isService ? "the name of a service" : "the address of the database"), "
                    + "or unset it to use the private PostgreSQL"
            )
        }
        return (name, isService ? PostgresConfiguration.address(ofService: value) : value)
    }

    /// The database for a command. Unlike a server, a command does not create a private one without a question.
    private func sourceForCommand() throws -> DatabaseSource {
        let source = try source()
        guard case .privatePostgres(let postgres) = source, !usesPrivate else {
            // There a server keeps something else in the state folder.
            if let stateDir, let named = try named() {
                throw CommandError(
                    "--state-dir and \(named.by) name two databases; leave --state-dir out, or add --private to use the "
                        + "private PostgreSQL in \(stateDir)"
                )
            }
            return source
        }
        let environment = CommandContext.current.environment
        if let other = ["PGHOST", "PGDATABASE", "PGUSER"].first(where: { environment[$0] != nil }) {
            warn(
                "\(other) is set, and versiongate ignores it when it chooses a database: this is the private PostgreSQL in "
                    + "\(postgres.stateDirectory); to use another, set DATABASE_URL; to silence this warning, add --private"
            )
        }
        guard !postgres.exists else { return source }
        let fault = "no database is named, and there is no private PostgreSQL in \(postgres.stateDirectory) yet"
        let cure = "with DATABASE_URL or --database-url, or make a private one with --private"
        guard Terminal.canAsk else { throw CommandError("\(fault). Name one \(cure)") }
        guard Terminal.confirms("\(fault.prefix(1).uppercased())\(fault.dropFirst()). Make one there?") else {
            throw CommandError("nothing was made; name a database \(cure)")
        }
        return source
    }

    func stateDirectory() throws -> String { try Self.stateDirectory(stateDir) }

    func read<Result: Sendable>(_ body: @Sendable (PolicyReports) throws -> Result) async throws -> Result {
        try await withConnection(as: .admin) { connection, logger, _ in
            try await Progress.showing("Reading the database") {
                try await connection.transaction(.repeatableReadReadOnly) { session in
                    try SchemaMigrator(logger: logger).status(session).requireReadable()
                    return try body(try PolicyReports(session))
                }
            }
        }
    }

    func withDatabase<Result: Sendable>(_ body: (RunningDatabase) async throws -> Result) async throws -> Result {
        try await CommandError.explaining {
            try await sourceForCommand().withDatabase(logger: Self.logger, body)
        }
    }

    /// - Parameter migrating: Whether the schema of a private database is brought up to date first.
    func withConnection<Result: Sendable>(
        as role: DatabaseRole,
        migrating: Bool = true,
        onNotice: (@Sendable (PostgresNotice) -> Void)? = nil,
        _ body: (_ connection: PostgresConnection, _ logger: Logger, _ name: String) async throws -> Result
    ) async throws -> Result {
        let logger = Self.logger
        return try await CommandError.explaining {
            let source = try sourceForCommand()
            return try await source.withDatabase(logger: logger, migrating: migrating) { database in
                try await database.withConnection(as: role, logger: logger, onNotice: onNotice) { connection in
                    let name = source.name(address: await connection.address)
                    return try await CommandError.explaining(
                        waiting: {
                            CommandError.waits(
                                for: try await connection.withSession {
                                    try OpenEdit.all($0, includesReaders: !migrating)
                                },
                                migrates: !migrating, database: name
                            )
                        },
                        writing: {
                            try await connection.withSession { try PolicyReader.isStandby($0) } ? .standby(name) : nil
                        }
                    ) {
                        try await body(connection, logger, name)
                    }
                }
            }
        }
    }

    /// Commands report on standard output; only errors are logged.
    private static var logger: Logger {
        var logger = Logger(label: "versiongate") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = .error
        return logger
    }

    /// The absolute path of the state folder: that of the option or the environment, else the default for the user.
    static func stateDirectory(_ option: String?) throws -> String {
        let environment = CommandContext.current.environment
        let chosen: String
        if let named = option ?? environment["VERSIONGATE_STATE_DIR"], !named.isEmpty {
            chosen = named
        } else if getuid() == 0 {
            chosen = "/var/lib/versiongate"
        } else if let state = environment["XDG_STATE_HOME"], state.hasPrefix("/") {
            chosen = state + "/versiongate"
        } else if let home = environment["HOME"], home.hasPrefix("/") {
            chosen = home + "/.local/state/versiongate"
        } else {
            throw CommandError(
                "there is no place for the private PostgreSQL because HOME is not set; "
                    + "name a folder with --state-dir, or a database with --database-url"
            )
        }
        return URL(fileURLWithPath: chosen).standardizedFileURL.path
    }
}
