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

    /// Commands, and what people write for them; the first that there is, is meant.
    private static let otherNames = [
        ("remove", "delete rm"), ("add", "create new"), ("show", "get"), ("list", "ls get show"),
        ("edit", "set update change"), ("enable", "on start activate"), ("disable", "off stop deactivate unblock"),
        ("pause", "off stop disable deactivate"), ("resume", "on start enable activate unpause"),
        ("copy", "clone duplicate"), ("withdraw", "pull revoke yank unpublish"), ("history", "log"),
        ("serve", "server"), ("apply", "import"), ("undo", "revert rollback"),
    ]

    /// What people ask for that is done in another way, by the command and the word behind it.
    private static let otherWays = [
        "versiongate unblock": "rule disable KEY", "versiongate rule rename": "rule copy KEY NEW",
        "versiongate app rename": "app edit BUNDLE --name NAME", "versiongate redo": "undo CHANGE",
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
        } else if let noun = rest.first, UsageFault([noun, word]).path.count > 2 {
            cure = "did you mean: \(commandLine([noun, word] + rest.dropFirst()))"
        } else if let meant = Self.otherNames.first(where: { name, others in
            subcommands.contains(name) && others.split(separator: " ").contains { $0 == word.lowercased() }
        })?.0 ?? SimilarNames.of(word, among: subcommands).first {
            // A list takes no names.
            cure = "did you mean: \(commandLine([meant] + (meant == "list" && word != "ls" ? [] : rest)))"
        } else if path.count > 1, Self.isWhole([word] + rest) {
            cure = "did you mean: \(PrintedCommand.text(([word] + rest).map(\.shellWord).joined(separator: " ")))"
        } else {
            cure = "there are \(subcommands.joined(separator: ", "))"
        }
        return "There is no command \"\(parent) \(word)\"; \(cure)"
    }

    /// What people write for an option that has another name here.
    private static let otherOptions = [
        "--app": "--bundle", "--application": "--bundle", "--file": "--output", "--percent": "--rollout",
        "--start": "--starts-at", "--end": "--ends-at", "--country": "--region", "--reason": "--why",
        "--script": "--print", "--password": "--password-file", "--date": "--live-at", "--min-sdk": "--min-os",
        "--version-code": "--build", "--build-number": "--build", "--user": "--by", "--from": "--since",
        "--last": "--limit", "-n": "--limit", "--message": "--text", "--rule": "--key", "--json": "--format json",
        "--until": "--ends-at",
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
        let other = Self.otherOptions[unknown.text].flatMap { meant in
            options.names.contains { "\(meant) ".hasPrefix("\($0) ") } ? meant : nil
        }
        let unnamed =
            options.positionals.flatMap { ($0.valueName ?? "").split(separator: "|") } + [path[path.count - 1][...]]
        let names = [unknown.text, Self.otherOptions[unknown.text] ?? ""].map { $0.drop { $0 == "-" } }
        let cure =
            if other == nil, unknown.value == nil, unnamed.contains(where: names.contains) {
                "It is written without its name: \(commandLine(rest.filter { $0 != unknown.text }))"
            } else if let meant = other
                ?? SimilarNames.of(unknown.text, among: options.names.filter({ $0.hasPrefix("--") })).first
            {
                "Did you mean '\(meant)'?"
            } else if path.last == "block",
                let meant = [unknown.text, Self.otherOptions[unknown.text] ?? ""]
                    .first(where: CommandOptions(RuleAddCommand.self).names.contains)
            {
                "For such a lockout add a rule with \(meant): "
                    + "\(PrintedCommand("rule add KEY --bundle BUNDLE --versions =VERSION --link store --lockout --enable --title TITLE --text TEXT"))"
            } else if unknown.text == "--all", path.last == "disable" {
                "A rule is named by its key; to answer all checks without messages: \(PrintedCommand("app pause --all"))"
            } else {
                "\(commandLine(["--help"])) shows those there are."
            }
        return "Unknown option '\(unknown.text)'. \(cure)"
    }

    /// What a word that is one too many was meant for; nil where none is.
    private func unexpectedWord(_ given: [CommandOptions.Word], _ options: CommandOptions) -> String? {
        let positionals = options.positionals
        let others = given.indices.filter { given[$0].option == nil && !given[$0].text.hasPrefix("-") }
        guard !positionals.contains(where: \.isRepeating), others.count > positionals.count else { return nil }
        let split = others.dropFirst(positionals.count).first { index in
            // A command without arguments rather lacks --bundle in front of the word.
            guard index > 0 else { return false }
            return positionals.isEmpty ? Self.texts.contains(given[index - 1].text) : given[index - 1].value != nil
        }
        let index = split ?? others[positionals.count]
        return "Unexpected argument '\(given[index].text)'. "
            + (split == nil ? cure(given, index, options) : Self.cure(given[index - 1], given[index...]))
    }

    /// What to write for an option whose value the shell took for several words.
    private static func cure(_ option: CommandOptions.Word, _ rest: ArraySlice<CommandOptions.Word>) -> String {
        let words = ([option.value ?? ""] + rest.prefix { $0.option == nil }.map(\.text)).map(withoutCurlyQuotes)
        if option.option?.valueName?.contains("=") == true, words.count == 2, !words[0].contains("=") {
            return "Did you mean '\(option.text) \(words[0])=\(words[1])'?"
        }
        if option.option?.isRepeating == true {
            return "Write each by itself: \(words.map { "\(option.text) \($0.shellWord)" }.joined(separator: " "))"
        }
        let either = words.joined(separator: " || ")
        // Versions side by side are no range: nothing is two of them.
        let isList =
            ranges.contains(option.text) && words.allSatisfy { AppVersion($0) != nil } && VersionRange(either) != nil
        return "Put quotes round a value with blanks: \(option.text) "
            + "\"\(isList ? either : words.joined(separator: " "))\""
    }

    /// What to write for a word that belongs to no option.
    private func cure(_ given: [CommandOptions.Word], _ index: Int, _ options: CommandOptions) -> String {
        let word = given[index].text
        let before = index > 0 ? given[index - 1] : nil
        if ["%", "percent"].contains(word), let before { return "Write the percentage as one word: \(before.text)%" }
        if let before, before.option?.takesValue == false {
            let other = "--no-\(before.text.dropFirst(2))"
            return "\(before.text) stands alone, without a value"
                + (options.names.contains(other) ? "; the opposite is \(other)" : "")
        }
        let isFile = word.contains("/") || [".yaml", ".yml"].contains(where: word.hasSuffix)
        let positionals = options.positionals
        let number = word.allSatisfy(\.isNumber) ? "--port" : nil
        let named = [Self.option(meantBy: word), number, "--\(word)"] + (isFile ? ["--output"] : []) + ["--bundle"]
        if let option = named.compactMap(\.self).first(where: { name in
            options.names.contains(name) && !given.contains { $0.text == name }
        }), positionals.isEmpty || !["--output", "--bundle"].contains(option) {
            let words = option == "--\(word)" ? [option] : [option, word]
            return "Did you mean: \(commandLine(rest.flatMap { $0 == word ? words : [$0] }))"
        }
        if !positionals.isEmpty {
            let names = positionals.map { "one <\($0.valueName ?? "")>" }.joined(separator: " and ")
            return "This takes \(names); repeat the command for each."
        }
        let show = path.dropFirst().dropLast() + ["show"] + rest
        return path.last == "list" && Self.isWhole(Array(show))
            ? "Did you mean: \(PrintedCommand.text(show.map(\.shellWord).joined(separator: " ")))"
            : "It takes options alone: \(commandLine(["--help"])) shows them."
    }

    /// The option that a word without one is the value of.
    private static func option(meantBy word: String) -> String? {
        if Platform.wellKnown.contains(Platform(word).name) { return "--platform" }
        if word.allSatisfy(\.isNumber) { return "--build" }
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
            let time =
                times.isEmpty
                ? "this command takes no time"
                : "a time from now stands behind \(times.joined(separator: " or ")): \(times[0]) \(word.text)"
            let cure = word.text.last?.isLetter == true ? time : "no number here is negative"
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
