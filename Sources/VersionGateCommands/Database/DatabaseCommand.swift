import ArgumentParser
import Foundation
import PolicyStore
import Postgres
import PrivatePostgres

struct DatabaseCommand: AsyncParsableCommand {
    static let configuration = command(
        "database", "Show the address of the database, or open psql on it.", "versiongate database psql",
        subcommands: [DatabaseURLCommand.self, DatabasePsqlCommand.self]
    )
}

struct DatabaseURLCommand: AsyncParsableCommand {
    static let configuration = command(
        "url", "Print an address that psql, run by the same user, accepts.",
        #"psql "$(versiongate database url)""#,
        discussion: """
            It logs in as versiongate_admin, which edits the policy and nothing else. The private PostgreSQL runs only \
            while a versiongate server or command does; `versiongate database psql` keeps it running for as long as \
            you need it.
            """
    )

    @OptionGroup var database: DatabaseOptions

    func run() async throws {
        try await database.withDatabase { print($0.configuration(as: .admin).connectionString) }
    }
}

struct DatabasePsqlCommand: AsyncParsableCommand {
    static let configuration = command(
        "psql", "Open psql on the database; on the private one as versiongate_admin.",
        "versiongate database psql", "versiongate database psql -c 'SELECT key, title FROM rules'",
        "versiongate database psql -- --help",
        discussion: "Arguments that this command does not know go to psql, and so do all those after --."
    )

    @OptionGroup var database: DatabaseOptions
    @Argument(parsing: .allUnrecognized, help: "Arguments for psql.") var arguments: [String] = []

    func run() async throws {
        var arguments = self.arguments
        if let terminator = arguments.firstIndex(of: "--") { arguments.remove(at: terminator) }
        try await database.withDatabase { [arguments] in try Self.becomePsql(on: $0, arguments) }
    }

    /// Replaces this process by psql; it never returns, and throws where psql cannot be started.
    ///
    /// A child process could not read the terminal: Foundation starts children in their own process group, which is a
    /// background group to the terminal. A private PostgreSQL runs for as long as psql does, which inherits the lease.
    private static func becomePsql(on database: RunningDatabase, _ arguments: [String]) throws {
        let configuration = database.configuration(as: .admin)
        let settings = try configuration.environment()
        // A service wins over variables, and what stands beside it in an address wins over the service.
        let isMixed = configuration.service != nil && settings.count > 1
        let address = isMixed ? configuration.addressWithoutPassword.map { ["--dbname=\($0)"] } ?? [] : []
        // Below the hint of a refusal stands which of our functions raised it, which helps nobody.
        let words = ["psql", "--set=SHOW_CONTEXT=never"] + address + arguments
        for (name, value) in settings { setenv(name, value, 1) }
        if case .leased(let lease) = database { lease.keepOverExec() }
        fflush(nil)
        // The threads of Dispatch block every signal, and a program that is executed inherits that.
        var signals = sigset_t()
        sigemptyset(&signals)
        pthread_sigmask(SIG_SETMASK, &signals, nil)
        let argv: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        execvp("psql", argv)
        throw CommandError(
            errno == ENOENT
                ? "psql is not on PATH; install postgresql-client, or use another client with the address that "
                    + "`\(PrintedCommand("database url"))` prints"
                : "psql cannot be started: \(String(cString: strerror(errno)))"
        )
    }
}
