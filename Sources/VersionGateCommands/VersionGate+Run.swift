import ArgumentParser
import Foundation
import PolicyStore
import UpdatePolicy

extension VersionGate {
    /// Runs the command that the arguments name.
    ///
    /// What is wrong with the arguments is said by the argument parser, or by ``UsageFault``.
    ///
    /// - Returns: The exit code.
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

    /// Runs the command of a context inside this process.
    package static func run(in context: CommandContext) async -> Int32 {
        await Invocation.$current.withValue(context.invocation) {
            await CommandContext.$current.withValue(context) { await run() }
        }
    }

    /// Says why a command could not be carried out.
    private static func explain(_ error: any Error) -> Int32 {
        if let code = error as? ExitCode { return code.rawValue }
        let text =
            (error as? any ErrorWithCommand)?.description(command: PrintedCommand.text)
            ?? (error as? any LocalizedError)?.errorDescription ?? String(describing: error)
        printError("\(errorPrefix)\(text)\n")
        return ExitCode.failure.rawValue
    }

    /// Answers arguments that name no command: with what they asked for, such as help, or with what is wrong with them.
    private static func answer(_ error: any Error, _ fault: UsageFault) -> Int32 {
        // The parser makes the message anew whenever it is asked for one, which takes longer than all the rest.
        var text = fullMessage(for: error)
        guard text.hasPrefix(errorPrefix) else {
            if fault.asksForHelp {
                print(text)
                return ExitCode.success.rawValue
            }
            if let unasked = fault.unaskedHelp { return refuse(unasked) }
            // A noun without its verb: nothing was done, and a script must see that.
            printError(text + "\n")
            return ExitCode.validationFailure.rawValue
        }
        text.removeFirst(errorPrefix.count)
        return refuse(fault.explained(text))
    }

    /// Says what is wrong with the command line.
    private static func refuse(_ text: String) -> Int32 {
        let lines = (errorPrefix + text).visible(keepsNewlines: true)
        printError(Terminal.standardError.paragraphs(lines) + "\n")
        return ExitCode.validationFailure.rawValue
    }

    /// What the argument parser begins each refusal with.
    private static let errorPrefix = "Error: "
}
