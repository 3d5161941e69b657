// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import ArgumentParser
import Foundation
import UpdatePolicy

extension VersionGate {
    /// Runs the command that the arguments of this process name.
    ///
    /// What is wrong with the arguments is said by the argument parser, except where ``UsageFault`` knows better.
    public static func start() async {
        let words = Array(CommandLine.arguments.dropFirst())
        do {
            var command = try await asyncParseAsRoot(words)
            guard var command = command as? any AsyncParsableCommand else { return try command.run() }
            do {
                try await command.run()
            } catch let failure where !(failure is ValidationError || failure is CleanExit) {
                end(of: failure)
            }
        } catch {
            await answer(error, words)
        }
    }

    /// Says why a command could not be carried out, and ends the process.
    private static func end(of error: any Error) -> Never {
        if let code = error as? ExitCode { Foundation.exit(code.rawValue) }
        let text = (error as? any LocalizedError)?.errorDescription ?? String(describing: error)
        StandardStreams.printError("\(errorPrefix)\(text)\n")
        Foundation.exit(ExitCode.failure.rawValue)
    }

    /// Answers arguments that name no command: with what they asked for, such as help, or with what is wrong with them.
    private static func answer(_ error: any Error, _ words: [String]) async {
        let fault = UsageFault(words)
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
        let whole = errorPrefix + (fault.message(insteadOf: message) ?? message) + text[end...]
        StandardStreams.printError(whole.visible(keepsNewlines: true) + "\n")
        Foundation.exit(ExitCode.validationFailure.rawValue)
    }

    /// What the argument parser begins each refusal with.
    private static let errorPrefix = "Error: "
}

/// Explains arguments that the parser refuses, where it does not say what to write.
struct UsageFault {
    private let words: [String]
    /// The commands that the first words name: `versiongate rule add`.
    private var path = ["versiongate"]
    /// The commands below the last of them; empty where there are none.
    private var subcommands: [String] = []
    /// The word in the place of a command that there is not.
    private var unknown: String?

    init(_ words: [String]) {
        self.words = words
        var command: any ParsableCommand.Type = VersionGate.self
        for word in words {
            let below = command.configuration.subcommands
            guard !below.isEmpty, !word.hasPrefix("-") else { break }
            guard let next = below.first(where: { $0.configuration.commandName == word }) else {
                subcommands = below.map { $0.configuration }.filter { $0.shouldDisplay }.compactMap { $0.commandName }
                unknown = word
                break
            }
            path.append(word)
            command = next
        }
    }

    /// What people write for a command that has another name here.
    private static let otherNames = [
        "delete": "remove", "rm": "remove", "create": "add", "new": "add", "ls": "list", "get": "show", "set": "edit",
        "update": "edit", "change": "edit", "on": "enable", "off": "disable", "log": "history", "server": "serve",
    ]

    /// The words up to one that names no command, which the parser refuses; nil where there is none.
    var unknownCommandLine: [String]? {
        guard let unknown, unknown != "help" else { return nil }
        return Array(path.dropFirst()) + [unknown]
    }

    /// A better message; nil where that of the parser says enough.
    func message(insteadOf message: String) -> String? {
        if let unknown { return unknownCommand(unknown) }
        if message.hasPrefix("Missing value for '--") { return missingValue(message) }
        if message.hasPrefix("The value '"), message.contains("' is invalid for '"), message.hasSuffix(">'") {
            // Whatever else can be wrong says itself what to write.
            return "\(message): write a whole number"
        }
        if message.contains("nexpected argument"), let quoted = unquotedValue(message) {
            return "\(message). Put quotes round a value with blanks: \(quoted)"
        }
        if message.hasPrefix("Missing expected argument") || message.hasPrefix("Unknown option"),
            let number = words.first(where: { $0.hasPrefix("-") && $0.dropFirst().first?.isNumber == true })
        {
            return "\(message). \"\(number)\" begins with \"-\" and counts as an option; no number here is negative"
        }
        return nil
    }

    private func unknownCommand(_ word: String) -> String {
        let parent = path.joined(separator: " ")
        let other = Self.otherNames[word.lowercased()].flatMap { subcommands.contains($0) ? $0 : nil }
        let meant = other ?? SimilarNames.of(word, among: subcommands).first
        let rest = words.drop { $0 != word }.dropFirst().map(\.shellWord).joined(separator: " ")
        let cure =
            meant.map { "did you mean: \(parent) \($0)\(rest.isEmpty ? "" : " " + rest)" }
            ?? "there are \(subcommands.joined(separator: ", "))"
        return "There is no command \"\(parent) \(word)\"; \(cure)"
    }

    private func missingValue(_ message: String) -> String? {
        let option = message.dropFirst("Missing value for '".count).prefix { $0 != " " && $0 != "'" }
        if let index = words.firstIndex(of: String(option)), words.indices.contains(index + 1) {
            let value = words[index + 1]
            return "\(message). A value that begins with \"-\" is written behind \"=\": \(option)=\(value.shellWord)"
        }
        guard ["--versions", "--builds", "--os"].contains(option) else { return nil }
        return "\(message). Put a range in quotes, as < and > mean something to the shell: \(option) '>=1.1 <1.2'"
    }

    /// The option and the whole of a value whose blanks were not quoted; nil where none is among the unexpected words.
    private func unquotedValue(_ message: String) -> String? {
        for (index, word) in words.enumerated() where word.hasPrefix("--") && !word.contains("=") {
            let value = words[(index + 1)...].prefix { !$0.hasPrefix("-") }
            guard value.count > 1, value.dropFirst().allSatisfy({ message.contains("'\($0)'") }) else { continue }
            return "\(word) \"\(value.joined(separator: " "))\""
        }
        return nil
    }
}
