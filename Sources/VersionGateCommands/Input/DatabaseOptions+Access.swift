import ArgumentParser
import Foundation
import Logging
import PolicyStore
import Postgres
import PrivatePostgres
import UpdatePolicy

extension DatabaseOptions {
    /// The database that the options and the environment name.
    ///
    /// An option wins over the environment. Of two variables none does: they are refused. A state folder beside a database
    /// that is named is refused by ``withDatabase(_:)``, as there a server keeps something else in it.
    ///
    /// - Throws: `CommandError` if `DATABASE_URL` or `VERSIONGATE_CONTEXT` is empty: a secret that is missing must not lead
    ///   to another database.
    func source(environment: [String: String] = CommandContext.current.environment) throws -> DatabaseSource {
        if let name = try contextName(environment) {
            return .named(try DatabaseContexts.read(environment).address(of: name), context: name)
        }
        if !usesPrivate, let address = databaseURL ?? environment["DATABASE_URL"] {
            let name = databaseURL == nil ? "DATABASE_URL" : "--database-url"
            guard !address.isEmpty else {
                throw CommandError(
                    "DATABASE_URL is set but empty; set it to the address of the database, or unset it to use the private "
                        + "PostgreSQL"
                )
            }
            if let quote = address.first, quote == "\"" || quote == "'" {
                throw CommandError(
                    "\(name) begins with the quote \(quote), which is part of it; take the quotes out of the value"
                )
            }
            // libpq takes any other text for the name of a database on this machine.
            guard address.hasPrefix("postgres://") || address.hasPrefix("postgresql://") || address.contains("=") else {
                let scheme = address.firstRange(of: "://").map { "begins with \(address[..<$0.upperBound]), which" }
                throw CommandError(
                    "\(name) \(scheme ?? "has neither \"postgresql://\" nor \"=\" in it, so it") is not the address of a "
                        + "PostgreSQL database; write postgresql://USER@HOST/DATABASE, or host=HOST dbname=DATABASE user=USER"
                )
            }
            let settings = try? PostgresConfiguration(connectionString: address).environment()
            if let databaseURL, settings?["PGPASSWORD"] != nil { ProcessArguments.hide(databaseURL) }
            return .named(address)
        }
        let directory = try stateDirectory(environment: environment)
        return .privatePostgres(PrivatePostgres(stateDirectory: directory, logger: Self.logger))
    }

    /// The name of the context that the options or the environment choose; nil where they choose none.
    func contextName(_ environment: [String: String] = CommandContext.current.environment) throws -> String? {
        if usesPrivate || databaseURL != nil { return nil }
        if let context { return context }
        guard let name = environment["VERSIONGATE_CONTEXT"] else { return nil }
        guard !name.isEmpty else {
            throw CommandError("VERSIONGATE_CONTEXT is set but empty; set it to the name of a context, or unset it")
        }
        guard environment["DATABASE_URL"] == nil else {
            throw CommandError(
                "DATABASE_URL and VERSIONGATE_CONTEXT both name a database; unset one of them, or choose here with --context "
                    + "or --database-url"
            )
        }
        return name
    }

    /// The database for a command. Unlike a server, a command does not create a private one without a question.
    private func sourceForCommand() throws -> DatabaseSource {
        let source = try source()
        guard case .privatePostgres(let postgres) = source, !usesPrivate else {
            if let stateDir, case .named = source {
                let name =
                    try databaseURL != nil ? "--database-url" : contextName() == nil ? "DATABASE_URL" : "the context"
                throw CommandError(
                    "--state-dir and \(name) name two databases; leave --state-dir out, or for the private PostgreSQL in "
                        + "\(stateDir) give --private with it"
                )
            }
            return source
        }
        let environment = CommandContext.current.environment
        if let other = ["PGHOST", "PGDATABASE", "PGSERVICE", "PGUSER"].first(where: { environment[$0] != nil }) {
            CommandError(
                "\(other) is set, and versiongate does not choose a database by it: this is the private PostgreSQL in "
                    + "\(postgres.stateDirectory); for another set DATABASE_URL, and for no warning give --private"
            ).printAsWarning()
        }
        guard !postgres.exists else { return source }
        let fault =
            "no database is named, and there is no private PostgreSQL in \(postgres.stateDirectory) yet"
        let cure = "name a database with DATABASE_URL or --database-url, or make a private one with --private"
        guard Terminal.canAsk else { throw CommandError("\(fault); \(cure)") }
        guard Terminal.confirms("\(fault.prefix(1).uppercased())\(fault.dropFirst()). Make one there?") else {
            throw CommandError("nothing was made; \(cure)")
        }
        return source
    }

    /// The state folder on this machine.
    func stateDirectory(environment: [String: String] = CommandContext.current.environment) throws -> String {
        try StateDirectory(option: stateDir, environment: environment).path
    }

    /// Reads the policy for people and scripts.
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

    /// Reads the whole policy, and makes a moment of the clock of the database.
    ///
    /// - Parameters:
    ///   - revision: The policy as it stood at this revision; nil for today's.
    ///   - asOf: The policy as it stood at this time, which wins over the revision.
    func policy<Facts: Sendable>(
        revision: Int64? = nil,
        asOf: TimeArgument? = nil,
        at moment: @Sendable (CommandClock) throws -> Timestamp,
        with facts: @Sendable (PostgresSession, Policy, Timestamp) throws -> Facts
    ) async throws -> (Policy, Timestamp, Facts) {
        try await withConnection(as: .admin) { connection, logger, _ in
            if revision != nil || asOf != nil {
                let status = try await SchemaMigrator(logger: logger).status(connection)
                try status.requireReadable()
            }
            let time = try moment(try await connection.withSession { try CommandClock($0) })
            let policy = try await Progress.showing("Reading the policy") {
                let past = try await connection.transaction(.repeatableReadReadOnly) { session in
                    try asOf.map { _ in try PolicyHistory(session).revision(at: time) } ?? revision
                }
                return try await PolicyReader.policy(connection, revision: past)
            }
            let facts = try await connection.transaction(.repeatableReadReadOnly) { try facts($0, policy, time) }
            return (policy, time, facts)
        }
    }

    /// Runs `body` while the database can be reached.
    func withDatabase<Result: Sendable>(_ body: (RunningDatabase) async throws -> Result) async throws -> Result {
        try await CommandError.explaining {
            try await sourceForCommand().withDatabase(logger: Self.logger, body)
        }
    }

    /// Runs `body` with a connection to the database, and the name that it has in messages.
    ///
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
                                for: try await OpenEdit.all(connection, includesReaders: !migrating),
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
}
