package import Foundation
package import Logging
import PolicyServer
package import PolicyStore
package import Postgres

/// What a command has of the world around it: how it was called, where it reads and prints, and what clocks show.
package struct CommandContext: Sendable {
    let invocation: Invocation
    let standardInput: FileHandle
    private(set) var hasKeyboard = false
    private(set) var standardOutput = Terminal.file
    private(set) var standardError = Terminal.file
    let print: @Sendable (String) -> Void
    let printError: @Sendable (String) -> Void
    /// How many seconds clocks are ahead of UTC at a moment, in seconds since 1970.
    let secondsAheadOfUTC: @Sendable (Int64) -> Int64
    let openSession: OpenSession

    var arguments: [String] { invocation.words }
    var environment: [String: String] { invocation.environment }

    /// That of the running command: of this process, unless ``VersionGate/run(in:)`` was given another.
    @TaskLocal static var current = ofThisProcess()

    private static func ofThisProcess() -> CommandContext {
        var context = CommandContext(
            .current, standardInput: .standardInput, print: { Swift.print($0, terminator: "") },
            printError: { DescriptorWriter.write($0, to: STDERR_FILENO) }
        )
        context.hasKeyboard = isatty(STDIN_FILENO) == 1
        context.standardOutput = Terminal.of(STDOUT_FILENO, context.environment)
        context.standardError = Terminal.of(STDERR_FILENO, context.environment)
        return context
    }

    package init(
        _ invocation: Invocation,
        standardInput: FileHandle,
        print: @escaping @Sendable (String) -> Void,
        printError: @escaping @Sendable (String) -> Void,
        secondsAheadOfUTC: (@Sendable (Int64) -> Int64)? = nil,
        openSession: OpenSession? = nil
    ) {
        (self.invocation, self.standardInput) = (invocation, standardInput)
        (self.print, self.printError) = (print, printError)
        self.secondsAheadOfUTC = secondsAheadOfUTC ?? TimeText.offsetOfThisMachine
        self.openSession = openSession ?? Self.openNewSession
    }

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

func print(_ text: String, terminator: String = "\n") { CommandContext.current.print(text + terminator) }

func printError(_ text: String) { CommandContext.current.printError(text) }
