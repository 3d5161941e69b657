// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import ArgumentParser
import Foundation
import PolicyFigures
import PolicyStore
import UpdatePolicy

extension VersionGate {
    /// Runs the command that the arguments of this process name.
    ///
    /// What is wrong with the arguments is said by the argument parser, except where ``UsageFault`` knows better.
    public static func start() async {
        let words = ProcessArguments.words
        guard !words.isEmpty else {
            // A service that lost its arguments must not look as if it had done its work.
            StandardStreams.printError(helpMessage() + "\n")
            Foundation.exit(ExitCode.validationFailure.rawValue)
        }
        if words.first == "--version" { return print(versionText) }
        // Before a password is wiped from the arguments.
        _ = PrintedCommand.text("")
        let fault = UsageFault(words)
        let (mistake, warnings) = fault.judgement
        if let mistake { refuse(mistake) }
        for warning in warnings { CommandError(warning).printAsWarning() }
        do {
            var command = try await asyncParseAsRoot(words)
            guard var command = command as? any AsyncParsableCommand else { return try command.run() }
            do {
                try await command.run()
            } catch let failure where !(failure is ValidationError || failure is CleanExit) {
                end(of: failure)
            }
        } catch {
            await answer(error, fault)
        }
    }

    /// Says why a command could not be carried out, and ends the process.
    private static func end(of error: any Error) -> Never {
        if let code = error as? ExitCode { Foundation.exit(code.rawValue) }
        let text =
            (error as? any ErrorWithCommand)?.description(command: PrintedCommand.text)
            ?? (error as? any LocalizedError)?.errorDescription ?? String(describing: error)
        StandardStreams.printError("\(errorPrefix)\(text)\n")
        Foundation.exit(ExitCode.failure.rawValue)
    }

    /// Answers arguments that name no command: with what they asked for, such as help, or with what is wrong with them.
    private static func answer(_ error: any Error, _ fault: UsageFault) async {
        // The parser makes the message anew whenever it is asked for one, which takes longer than all the rest.
        var text = fullMessage(for: error)
        if !text.hasPrefix(errorPrefix), let mistaken = fault.unknownCommandLine {
            // The parser takes the h of an option behind it, such as -2h, for a question for help.
            do { _ = try await asyncParseAsRoot(mistaken) } catch { text = fullMessage(for: error) }
        }
        guard text.hasPrefix(errorPrefix) else {
            print(text)
            Foundation.exit(ExitCode.success.rawValue)
        }
        text.removeFirst(errorPrefix.count)
        let end = ["\nHelp:  ", "\nUsage: "].compactMap { text.range(of: $0)?.lowerBound }.min() ?? text.endIndex
        let message = String(text[..<end])
        refuse((fault.message(insteadOf: message) ?? message) + text[end...])
    }

    /// Says what is wrong with the command line, and ends the process.
    private static func refuse(_ text: String) -> Never {
        let lines = (errorPrefix + text).visible(keepsNewlines: true)
        StandardStreams.printError(Terminal.standardError.paragraphs(lines) + "\n")
        Foundation.exit(ExitCode.validationFailure.rawValue)
    }

    /// What the argument parser begins each refusal with.
    private static let errorPrefix = "Error: "
}
