package import ArgumentParser
import Foundation
import PolicyStore
import UpdatePolicy

package struct VersionGate: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "versiongate",
        abstract: "A forced-update policy server for apps.",
        discussion: """
            Apps call the server once at startup. It answers with the messages to show: please update, this version is \
            blocked, maintenance until 18:00. The rules are in PostgreSQL; edit them with these commands or with SQL.

            Without --database-url and DATABASE_URL, commands use a private PostgreSQL in the state folder.

            Write a time in ISO 8601 with an offset (2026-03-01T12:00:00Z), from now (+2h, -30m), or as PostgreSQL \
            reads it in the time zone of this machine (tomorrow 9:00, 2026-03-01 12:00); how it did is printed. The \
            clock of the database decides what now is.

            A terminal shows colours, unless NO_COLOR is set. Exit codes: 0 done, 1 refused or failed, 64 invalid \
            command line, and 2 when plan finds differences. versiongate --version prints the version, and versiongate \
            --generate-completion-script SHELL the completions for bash, zsh or fish.

            Example, a server and a first check:
              versiongate serve
              versiongate check bundle=com.example.doto version=1.1 \\
                platform=ios
            """,
        groupedSubcommands: [
            CommandGroup(
                name: "Server",
                subcommands: [ServeCommand.self, BrakeCommand.self, LockoutKeyCommand.self, MigrateCommand.self]
            ),
            CommandGroup(
                name: "Policy",
                subcommands: [
                    AppCommand.self, ReleaseCommand.self, RuleCommand.self, BlockCommand.self, FeedCommand.self,
                    StoreCommand.self,
                ]
            ),
            CommandGroup(name: "Policy file", subcommands: [ExportCommand.self, PlanCommand.self, ApplyCommand.self]),
            CommandGroup(
                name: "Query",
                subcommands: [
                    StatusCommand.self, CheckCommand.self, ReadCommand<Impact>.self, ReadCommand<Stats>.self,
                    HistoryCommand.self,
                    UndoCommand.self,
                ]
            ),
            CommandGroup(name: "Database", subcommands: [DatabaseCommand.self, UserCommand.self, TokenCommand.self]),
        ]
    )

    package static let versionText = "0.1.0"

    package init() {}

    /// Runs the command that the arguments name, and returns the exit code. What is wrong with the arguments is said by the
    /// argument parser, or by ``UsageFault``.
    package static func run() async -> Int32 {
        let words = CommandContext.current.arguments
        guard !words.isEmpty else {
            // A service that lost its arguments must not look as if it had done its work.
            printError(helpMessage() + "\n")
            return ExitCode.validationFailure.rawValue
        }
        if words.first == "--version" {
            print(versionText)
            return ExitCode.success.rawValue
        }
        let fault = UsageFault(words)
        if let unknown = fault.unknownCommand { return refuse(unknown) }
        do {
            var command = try await asyncParseAsRoot(words)
            if let repeated = fault.repeatedOption(of: command) { return refuse(repeated) }
            guard var command = command as? any AsyncParsableCommand else {
                try command.run()
                return ExitCode.success.rawValue
            }
            do {
                try await command.run()
                return ExitCode.success.rawValue
            } catch let failure where !(failure is ValidationError || failure is CleanExit) {
                return explain(failure)
            }
        } catch {
            return answer(error, fault)
        }
    }

    package static func run(in context: CommandContext) async -> Int32 {
        await Invocation.$current.withValue(context.invocation) {
            await CommandContext.$current.withValue(context) { await run() }
        }
    }

    private static func explain(_ error: any Error) -> Int32 {
        if let code = error as? ExitCode { return code.rawValue }
        let text = (error as? any LocalizedError)?.errorDescription ?? String(describing: error)
        printError("\(CommandError.label)\(CommandError(text))\n")
        return ExitCode.failure.rawValue
    }

    /// Answers arguments that name no command: with what they asked for, such as help, or with what is wrong with them.
    private static func answer(_ error: any Error, _ fault: UsageFault) -> Int32 {
        // The parser makes the message anew whenever it is asked for one, which takes longer than all the rest.
        var text = fullMessage(for: error)
        guard text.hasPrefix(CommandError.label) else {
            if fault.asksForHelp {
                print(text)
                return ExitCode.success.rawValue
            }
            if let unasked = fault.unaskedHelp { return refuse(unasked) }
            // A noun without its verb: nothing was done, and a script must see that.
            printError(text + "\n")
            return ExitCode.validationFailure.rawValue
        }
        text.removeFirst(CommandError.label.count)
        return refuse(fault.explained(text))
    }

    private static func refuse(_ text: String) -> Int32 {
        let lines = (CommandError.label + text).visible(keepsNewlines: true)
        printError(Terminal.standardError.paragraphs(lines) + "\n")
        return ExitCode.validationFailure.rawValue
    }
}
