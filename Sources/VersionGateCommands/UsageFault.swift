// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import ArgumentParser
import PolicyStore
import UpdatePolicy

/// What is wrong with a command line: what the argument parser would take for something else than was meant, and what it
/// refuses without saying what to write.
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

    /// The command line with other words behind the command, and three dots where more has to be written.
    func commandLine(_ words: some Sequence<String>) -> String {
        let all = path.dropFirst() + DatabaseWords(Array(words)).others
        let text = all.map(\.shellWord).joined(separator: " ")
        return PrintedCommand.text(Self.isWhole(Array(all)) ? text : "\(text) ...")
    }

    /// Whether a command can be carried out as it stands.
    private static func isWhole(_ words: [String]) -> Bool {
        do {
            return type(of: try VersionGate.parseAsRoot(words)).configuration.subcommands.isEmpty
        } catch {
            return VersionGate.exitCode(for: error) == .success
        }
    }

    /// What people write for a command that has another name here.
    private static let otherNames = [
        "delete": "remove", "rm": "remove", "create": "add", "new": "add", "ls": "list", "get": "show", "set": "edit",
        "update": "edit", "change": "edit", "on": "enable", "off": "disable", "log": "history", "server": "serve",
        "import": "apply", "revert": "undo", "rollback": "undo", "stop": "disable",
    ]

    /// What people ask for that is done in another way, by the command and the word behind it.
    private static let otherWays = [
        "versiongate unblock": "rule disable KEY", "versiongate rule rename": "rule copy KEY NEW",
        "versiongate app rename": "app edit BUNDLE --name NAME",
    ]

    /// What to write instead of what the parser refused; nil where its own words say enough.
    var explanation: String? {
        let options = options
        let given = options.parted(rest)
        return unknownOption(given, options) ?? unexpectedWord(given, options) ?? hyphen(given)
            ?? missingRange(given)
    }

    func unknownCommand(_ word: String) -> String {
        let parent = path.joined(separator: " ")
        let rest = Array(rest.drop { $0 != word }.dropFirst())
        let cure: String
        if let way = Self.otherWays["\(parent) \(word)"] {
            cure = "what comes near it is: \(PrintedCommand(way))"
        } else if let verb = rest.first(where: subcommands.contains) {
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
        "--script": "--print", "--password": "--password-file",
    ]

    /// What asks for help.
    private static let help: Set = ["-h", "-help", "--help"]

    /// Whether the words ask for help, or for what the parser makes of the commands.
    var asksForHelp: Bool {
        words.first == "help"
            || words.contains { word in
                Self.help.contains(word) || word.hasPrefix("--generate-completion-script")
                    || ["---completion", "--experimental-dump-help"].contains(word)
            }
    }

    /// The first option that the command does not have.
    func unknownOption(_ given: [CommandOptions.Word], _ options: CommandOptions) -> String? {
        guard path.last != "psql",
            let unknown = given.first(where: { word in
                word.option == nil && word.text.hasPrefix("-") && word.text.drop { $0 == "-" }.first?.isLetter == true
                    && !Self.help.contains(word.text) && word.text != "--version"
            })
        else { return nil }
        let other = Self.otherOptions[unknown.text].flatMap { options.names.contains($0) ? $0 : nil }
        let cure =
            if let meant = other
                ?? SimilarNames.of(unknown.text, among: options.names.filter({ $0.hasPrefix("--") })).first
            {
                "Did you mean '\(meant)'?"
            } else if unknown.text == "--json", options.names.contains("--format") {
                "Did you mean '--format json'?"
            } else if path.last == "block", CommandOptions(RuleAddCommand.self).names.contains(unknown.text) {
                "For such a lockout add a rule with \(unknown.text): "
                    + "\(PrintedCommand("rule add KEY --bundle BUNDLE --versions =VERSION --link store --lockout --enable --title TITLE --text TEXT"))"
            } else if unknown.text == "--all", path.last == "disable" {
                "A rule is named by its key; to answer all checks without messages: \(PrintedCommand("app pause --all"))"
            } else {
                "\(commandLine(["--help"])) shows those there are."
            }
        return "Unknown option '\(unknown.text)'. \(cure)"
    }

    /// What a word that is one too many was meant for; nil where that is not known.
    private func unexpectedWord(_ given: [CommandOptions.Word], _ options: CommandOptions) -> String? {
        let positionals = options.positionals
        let others = given.enumerated().filter { $0.element.option == nil && !$0.element.text.hasPrefix("-") }
        guard !positionals.contains(where: \.isRepeating), others.count > positionals.count else { return nil }
        let word = others[positionals.count].element.text
        if word == "%", let index = words.firstIndex(of: word), index > 0 {
            return "Unexpected argument '%'. Write the percentage as one word: \(words[index - 1])%"
        }
        let split = others.dropFirst(positionals.count).map(\.offset).first { offset in
            guard offset > 0 else { return false }
            let before = given[offset - 1]
            // A command without arguments rather lacks --bundle in front of the word.
            return positionals.isEmpty ? Self.texts.contains(before.text) : before.value != nil
        }
        if let split {
            let option = given[split - 1]
            let value = [option.value ?? ""] + given[split...].prefix { $0.option == nil }.map(\.text)
            let words = value.map(Self.withoutCurlyQuotes)
            let either = words.joined(separator: " || ")
            // Versions side by side are no range: nothing is two of them.
            let isList =
                Self.ranges.contains(option.text) && words.allSatisfy { AppVersion($0) != nil }
                && VersionRange(either) != nil
            return "Unexpected argument '\(given[split].text)'. Put quotes round a value with blanks: "
                + "\(option.text) \"\(isList ? either : words.joined(separator: " "))\""
        }
        let option = given.last {
            $0.option?.takesValue == false && ["true", "false", "yes", "no"].contains(word.lowercased())
        }
        if let option {
            let other = "--no-\(option.text.dropFirst(2))"
            return "Unexpected argument '\(word)'. \(option.text) stands alone, without a value"
                + (options.names.contains(other) ? "; the opposite is \(other)" : "")
        }
        if let option = Self.option(meantBy: word), options.names.contains(option),
            !given.contains(where: { $0.text == option })
        {
            return "Unexpected argument '\(word)'. Did you mean: "
                + commandLine(rest.flatMap { $0 == word ? [option, word] : [$0] })
        }
        if positionals.count == 1, let name = positionals[0].valueName {
            return "Unexpected argument '\(word)'. This takes one <\(name)>; repeat the command for each."
        }
        let meant = ["--output", "--bundle"].first { name in
            options.names.contains(name)
                && (name == "--bundle" || word.contains("/") || [".yaml", ".yml"].contains(where: word.hasSuffix))
        }
        guard positionals.isEmpty, others.count == 1, let meant else { return nil }
        let named = rest.flatMap { $0 == word ? [meant, word] : [$0] }
        return "Unexpected argument '\(word)'. Did you mean: \(commandLine(named))"
    }

    /// The option that a word without one is the value of.
    private static func option(meantBy word: String) -> String? {
        if Platform.wellKnown.contains(Platform(word).name) { return "--platform" }
        return ["viewer", "brake", "planner", "admin"].contains(word) ? "--role" : nil
    }

    /// A value that counts as an option, because it begins with a hyphen.
    private func hyphen(_ given: [CommandOptions.Word]) -> String? {
        given.lazy.compactMap { word in
            guard let value = word.value, value.hasPrefix("-"), word.option?.takesAnyValue == false,
                self.rest.contains(value)
            else { return nil }
            return "\(word.text) has no value. A value that begins with \"-\" is written behind \"=\": "
                + "\(word.text)=\(value.shellWord)"
        }.first
    }

    /// A word such as `-2h` or `-30`, of which the parser reads each letter as an option of its own: the h asks for help.
    func negative(_ given: [CommandOptions.Word], _ options: CommandOptions) -> String? {
        func isNegative(_ text: String) -> Bool {
            text.hasPrefix("-") && text.dropFirst().first.map { $0.isNumber || $0 == "." } == true
        }
        for word in given {
            if let value = word.value, isNegative(value), word.option?.takesAnyValue == false,
                !Self.texts.contains(word.text), rest.contains(value)
            {
                return "\(word.text) is \(value), and nothing that it takes is negative"
            }
            guard word.option == nil, isNegative(word.text) else { continue }
            if let unknown = unknownOption(given, options) { return unknown }
            let times = options.timeOptions
            let cure =
                if word.text.last?.isLetter != true {
                    "no number here is negative"
                } else if times.isEmpty {
                    "this command takes no time"
                } else {
                    "a time from now stands behind \(times.joined(separator: " or ")): \(times[0]) \(word.text)"
                }
            return "\"\(word.text)\" begins with \"-\" and counts as an option; \(cure)"
        }
        return nil
    }

    private static let ranges = ["--versions", "--builds", "--os"]

    /// A range that the shell took for the name of a file.
    private func missingRange(_ given: [CommandOptions.Word]) -> String? {
        guard let option = given.first(where: { $0.value == nil && Self.ranges.contains($0.text) }) else { return nil }
        return "\(option.text) has no value. Put a range in quotes, as < and > mean something to the shell: "
            + "\(option.text) '>=1.1 <1.2'"
    }

    static let curlyQuotes: Set<Character> = ["“", "”", "„", "‘", "’", "‚", "«", "»"]

    static func withoutCurlyQuotes(_ text: String) -> String { text.filter { !curlyQuotes.contains($0) } }
}
