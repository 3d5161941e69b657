// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import ArgumentParser
import PolicyFigures
import UpdatePolicy

/// Explains arguments that the parser refuses without saying what to write, and those that it would take for what was not
/// meant.
struct UsageFault {
    let words: [String]
    let command: any ParsableCommand.Type
    /// The commands that the first words name: `versiongate rule add`.
    var path = ["versiongate"]
    /// The commands below the last of them; empty where there are none.
    private var subcommands: [String] = []
    /// The word in the place of a command that there is not.
    var unknown: String?

    init(_ words: [String]) {
        self.words = words
        var command: any ParsableCommand.Type = VersionGate.self
        for word in words.first == "help" ? words.dropFirst() : words[...] {
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
        self.command = command
    }

    var options: CommandOptions { CommandOptions(command) }

    /// The words behind those that name the command.
    var rest: ArraySlice<String> { words.dropFirst(path.count - 1) }

    /// The command line with other words behind the command.
    func commandLine(_ words: some Sequence<String>) -> String {
        let others = DatabaseWords(Array(words)).others.map(\.shellWord)
        return PrintedCommand.text((path.dropFirst() + others).joined(separator: " "))
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
        if message.hasPrefix("Missing expected argument") || message.hasPrefix("Unknown option")
            || message.contains("nexpected argument"), let better = unknownOption ?? unexpectedWord(message)
        {
            return better
        }
        if message.hasPrefix("Value to be set with flag") { return "\(message); leave one of the two out" }
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

    func unknownCommand(_ word: String) -> String {
        let parent = path.joined(separator: " ")
        let rest = Array(rest.drop { $0 != word }.dropFirst())
        let cure: String
        if let verb = rest.first(where: subcommands.contains) {
            cure = "did you mean: \(commandLine([verb, word] + rest.filter { $0 != verb }))"
        } else if let noun = rest.first, isCommand(noun, word) {
            cure = "did you mean: \(commandLine([noun, word] + rest.dropFirst()))"
        } else if let meant = Self.otherNames[word.lowercased()].flatMap({ subcommands.contains($0) ? $0 : nil })
            ?? SimilarNames.of(word, among: subcommands).first
        {
            cure = "did you mean: \(commandLine([meant] + rest))"
        } else {
            cure = "there are \(subcommands.joined(separator: ", "))"
        }
        return "There is no command \"\(parent) \(word)\"; \(cure)"
    }

    /// Whether a verb stands in front of its noun: `add rule`.
    private func isCommand(_ noun: String, _ verb: String) -> Bool {
        command.configuration.subcommands.first { $0.configuration.commandName == noun }?.configuration.subcommands
            .contains { $0.configuration.commandName == verb } == true
    }

    /// What people write for an option that has another name here.
    private static let otherOptions = [
        "--app": "--bundle", "--application": "--bundle", "--file": "--output", "--percent": "--rollout",
        "--start": "--starts-at", "--end": "--ends-at", "--country": "--region", "--reason": "--why",
    ]

    /// The first option that the command does not have; nil where there is none.
    private var unknownOption: String? {
        let options = options
        guard path.last != "psql",
            let unknown = options.parted(rest).first(where: {
                $0.option == nil && $0.text.hasPrefix("--") && !["--help", "--version"].contains($0.text)
            })
        else { return nil }
        let other = Self.otherOptions[unknown.text].flatMap { options.names.contains($0) ? $0 : nil }
        let meant = other ?? SimilarNames.of(unknown.text, among: options.names).first
        if let meant { return "Unknown option '\(unknown.text)'. Did you mean '\(meant)'?" }
        guard unknown.text == "--all", path.starts(with: ["versiongate", "rule"]) else { return nil }
        return "Unknown option '--all'. A rule is named by its key; to answer all checks without messages: "
            + PrintedCommand.text("app pause --all")
    }

    /// What a word that is one too many was meant for; nil where that is not known.
    private func unexpectedWord(_ message: String) -> String? {
        guard let word = rest.first(where: { !$0.hasPrefix("-") && message.contains("'\($0)'") }),
            message.contains("nexpected argument")
        else { return nil }
        if let index = words.firstIndex(of: "%"), index > 0, message.contains("'%'") {
            return "\(message). Write the percentage as one word: \(words[index - 1])%"
        }
        let options = options
        if options.names.contains("--output"), word.contains(".") || word.contains("/") {
            return
                "\(message). A file to write is named by --output: \(commandLine(replacing(word, by: ["--output", word])))"
        }
        if options.positionals.isEmpty, options.names.contains("--bundle") {
            return "\(message). An app is named by --bundle: \(commandLine(replacing(word, by: ["--bundle", word])))"
        }
        guard options.positionals.count == 1, options.positionals[0].valueName == "key", unquotedValue(message) == nil
        else { return nil }
        return "\(message). This takes one rule; for that one: \(commandLine([word]))"
    }

    private func replacing(_ word: String, by others: [String]) -> [String] {
        rest.flatMap { $0 == word ? others : [$0] }
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
            return "\(word) \"\(Self.withoutCurlyQuotes(value.joined(separator: " ")))\""
        }
        return nil
    }

    static let curlyQuotes: Set<Character> = ["“", "”", "„", "‘", "’", "‚", "«", "»"]

    static func withoutCurlyQuotes(_ text: String) -> String { text.filter { !curlyQuotes.contains($0) } }
}
