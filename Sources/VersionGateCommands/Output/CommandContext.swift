package import Foundation
package import Logging
import PolicyServer
package import PolicyStore
package import Postgres

/// What a command has of the world around it: how it was called, where it reads and prints, and what clocks show.
package struct CommandContext: Sendable {
    /// How the command was called.
    let invocation: Invocation
    /// What standard input has.
    let standardInput: FileHandle
    /// Whether standard input is a terminal.
    let hasKeyboard: Bool
    /// The properties of standard output, where results go.
    let standardOutput: Terminal
    /// The properties of standard error, where errors, warnings and progress go.
    let standardError: Terminal
    /// Prints to standard output.
    let print: @Sendable (String) -> Void
    /// Prints to standard error; what cannot be written is lost.
    let printError: @Sendable (String) -> Void
    /// How many seconds clocks are ahead of UTC at a moment, in seconds since 1970.
    let secondsAheadOfUTC: @Sendable (Int64) -> Int64
    /// Opens the sessions of the command.
    let openSession: OpenSession

    /// The arguments of the command line.
    var arguments: [String] { invocation.words }
    /// The variables of the environment.
    var environment: [String: String] { invocation.environment }

    /// That of the running command: of this process, unless ``VersionGate/run(in:)`` was given another.
    @TaskLocal static var current = CommandContext()

    /// The context of this process.
    private init() {
        invocation = .current
        standardInput = .standardInput
        hasKeyboard = isatty(STDIN_FILENO) == 1
        standardOutput = Terminal(descriptor: STDOUT_FILENO, environment: invocation.environment)
        standardError = Terminal(descriptor: STDERR_FILENO, environment: invocation.environment)
        print = { Swift.print($0, terminator: "") }
        printError = { DescriptorWriter.write($0, to: STDERR_FILENO) }
        secondsAheadOfUTC = TimeText.offsetOfThisMachine
        openSession = Self.openNewSession
    }

    /// A context without a terminal, for a command in a process of its caller's.
    ///
    /// - Parameters:
    ///   - invocation: The arguments and the environment.
    ///   - standardInput: What the command reads.
    ///   - print: Receives what it prints to standard output.
    ///   - printError: Receives what it prints to standard error.
    ///   - secondsAheadOfUTC: The time zone; that of this machine if there is none.
    ///   - openSession: Opens its sessions; new ones if there is none.
    package init(
        _ invocation: Invocation,
        standardInput: FileHandle,
        print: @escaping @Sendable (String) -> Void,
        printError: @escaping @Sendable (String) -> Void,
        secondsAheadOfUTC: (@Sendable (Int64) -> Int64)? = nil,
        openSession: OpenSession? = nil
    ) {
        self.invocation = invocation
        self.standardInput = standardInput
        hasKeyboard = false
        standardOutput = .file
        standardError = .file
        self.print = print
        self.printError = printError
        self.secondsAheadOfUTC = secondsAheadOfUTC ?? TimeText.offsetOfThisMachine
        self.openSession = openSession ?? Self.openNewSession
    }
}

extension CommandContext {
    /// Opens a session, whose notices a handler receives, and says what ends it.
    package typealias OpenSession =
        @Sendable (
            _ configuration: PostgresConfiguration, _ logger: Logger, _ onNotice: (@Sendable (PostgresNotice) -> Void)?
        ) async throws -> (connection: PostgresConnection, end: @Sendable () async -> Void)

    private static let openNewSession: OpenSession = { configuration, logger, onNotice in
        let connection = try await PostgresConnection.connect(configuration, logger: logger, onNotice: onNotice)
        return (connection, { await connection.close() })
    }
}

/// Prints to the standard output of the running command, as all commands do.
func print(_ text: String, terminator: String = "\n") {
    CommandContext.current.print(text + terminator)
}

/// Prints to the standard error of the running command.
func printError(_ text: String) {
    CommandContext.current.printError(text)
}
