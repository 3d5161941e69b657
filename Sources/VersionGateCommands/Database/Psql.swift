import Foundation
import PolicyStore
import Postgres

/// Replaces this process by psql.
///
/// A child process could not read the terminal: Foundation starts children in their own process group, which is a
/// background group to the terminal.
enum Psql {
    /// Becomes psql on a database. It never returns; it throws where psql cannot be started.
    ///
    /// A private PostgreSQL runs for as long as psql does, because psql inherits the lease.
    static func become(on database: RunningDatabase, _ arguments: [String]) throws {
        let environment = CommandContext.current.environment
        guard let program = find(in: environment["PATH"] ?? "/usr/bin:/bin") else {
            throw CommandError(
                "psql is not on PATH; install postgresql-client, or use another client with the address that "
                    + "`\(PrintedCommand("database url"))` prints"
            )
        }
        let settings = try database.configuration(as: .admin).environment()
        let variables = environment.merging(settings) { $1 }.map { "\($0.key)=\($0.value)" }
        database.keepOverExec()
        fflush(nil)
        // The threads of Dispatch block every signal, and a program that is executed inherits that.
        var signals = sigset_t()
        sigemptyset(&signals)
        pthread_sigmask(SIG_SETMASK, &signals, nil)
        // Below the hint of a refusal stands which of our functions raised it, which helps nobody.
        let fault = withCStrings([program, "--set=SHOW_CONTEXT=never"] + arguments) { arguments in
            withCStrings(variables) { variables in
                execve(program, arguments, variables)
                return errno
            }
        }
        throw CommandError("\(program) cannot be started: \(String(cString: strerror(fault)))")
    }

    /// The arguments that show the name of a context in psql's prompt; a psqlrc may change it.
    static func prompt(context: String) -> [String] {
        ["--set=PROMPT1=\(context) %/%R%x%# ", "--set=PROMPT2=\(context) %/%R%x%# "]
    }

    private static func find(in path: String) -> String? {
        path.split(separator: ":").map { "\($0)/psql" }.first { access($0, X_OK) == 0 }
    }

    /// Lends a null-terminated array of C strings.
    private static func withCStrings<R>(_ texts: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> R) -> R {
        let copies = texts.map { strdup($0) }
        defer { copies.forEach { free($0) } }
        return body(copies + [nil])
    }
}
