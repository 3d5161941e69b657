import ArgumentParser
import PolicyStore
import UpdatePolicy

/// What is wrong with a command line and the argument parser lets pass, or answers without a cure.
struct UsageFault {
    private let words: [String]
    /// The command that the first words name, and those words.
    private var command: any ParsableCommand.Type = VersionGate.self
    private var path = ["versiongate"]
    private(set) var unknownCommand: String?

    init(_ words: [String]) {
        self.words = words.prefix { $0 != "--" }
        for word in words.first == "help" ? words.dropFirst() : words[...] {
            let below = command.configuration.subcommands
            guard !below.isEmpty, !word.hasPrefix("-"), word != "help" else { break }
            guard let next = below.first(where: { $0.configuration.commandName == word }) else {
                let names = below.map { $0.configuration }.filter(\.shouldDisplay).compactMap(\.commandName)
                let meant = Self.habit(word, among: names) ?? SimilarNames.of(word, among: names).first
                let cure = meant.map { "did you mean \($0)?" }
                unknownCommand =
                    "There is no command \"\(path.joined(separator: " ")) \(word)\"; "
                    + (cure ?? "there are \(names.joined(separator: ", "))")
                break
            }
            path.append(word)
            command = next
        }
    }

    /// What people write by habit, and what is meant: the first that there is where they write it.
    private static let habits = [
        "delete": ["remove"], "import": ["apply"], "off": ["disable", "pause"], "on": ["enable", "resume"],
        "pull": ["withdraw"], "rename": ["edit"], "revert": ["undo"], "rollback": ["undo"],
        "stop": ["disable", "pause"], "unblock": ["undo, or rule disable"], "-n": ["--dry-run"], "-v": ["--version"],
        "-y": ["--yes"], "--app": ["--bundle"], "--country": ["--region"], "--disable": ["rule disable KEY"],
        "--disabled": ["rule disable KEY"], "--enable": ["rule enable KEY"], "--enabled": ["rule enable KEY"],
        "--force": ["--yes"], "--json": ["--format json"], "--key": ["rule copy KEY NEW"],
        "--rollout": ["rule rollout KEY PERCENT"], "--until": ["--ends-at"],
    ]

    /// What is meant where the command has no such option.
    private static let cures = [
        "-v": "Write versiongate --version", "-y": noApproval, "--force": noApproval, "--yes": noApproval,
    ]
    private static let noApproval = "This command needs no approval; leave it out"

    private static func habit(_ word: String, among names: [String]) -> String? {
        habits[word]?.first { meant in
            names.contains { meant == $0 || meant.hasPrefix("\($0) ") || meant.hasPrefix("\($0),") }
        }
    }

    /// Whether the words ask for help, or for what the parser makes of the commands.
    var asksForHelp: Bool {
        words.first == "help"
            || words.contains { word in
                ["-h", "-help", "--help", "--experimental-dump-help"].contains(word)
                    || word.hasPrefix("--generate-completion-script")
            }
    }

    /// Names the word, such as `-2h`, in which the parser found a question for help: it reads each letter behind a hyphen as
    /// an option.
    var unaskedHelp: String? { dashWord { $0.contains("h") } }

    private func dashWord(where isMeant: (String) -> Bool) -> String? {
        guard let index = words.lastIndex(where: { $0.wholeMatch(of: /-[^-].*/) != nil && isMeant($0) }) else {
            return nil
        }
        let word = words[index]
        let fault = "\"\(word)\" begins with \"-\", so each of its letters counts as an option"
        let given = words[..<index].suffix(1).filter(options.contains)
        let isTime = word.wholeMatch(of: /-[0-9].*[a-z]/) != nil
        let meant =
            given.isEmpty && isTime
            ? Set(help.matches(of: /(--[a-z-]+) <[a-z|]*time>/).map { String($0.1) }).sorted() : Array(given)
        guard !meant.isEmpty else { return fault }
        return
            "\(fault). Write the value after the name of its option: \(meant.map { "\($0)=\(word)" }.joined(separator: " or "))"
    }

    private var help: String { VersionGate.helpMessage(for: command, includeHidden: true) }
    private var options: [String] { help.matches(of: /--[a-z][a-z-]*/).map { String($0.output) } }

    func repeatedOption(of command: any ParsableCommand) -> String? {
        for option in Self.singleOptions(of: command) {
            let given = words.indices.filter { Self.name(words[$0]) == option }
            guard given.count > 1 else { continue }
            let values = given.map { index in
                words[index].split(separator: "=", maxSplits: 1).dropFirst().first.map(String.init) ?? words.dropFirst(
                    index + 1
                ).first ?? ""
            }.map(\.shellWord).joined(separator: " and ")
            return "\(option) is given twice, with \(values), and takes one value; leave one of the two out"
        }
        return nil
    }

    private static func name(_ word: String) -> String { word == "-o" ? "--output" : String(word.prefix { $0 != "=" }) }

    /// The options that take one value; their names are those of their properties.
    private static func singleOptions(of arguments: any ParsableArguments) -> [String] {
        Mirror(reflecting: arguments).children.flatMap { child -> [String] in
            if let group = child.value as? any DeclaredGroup { return singleOptions(of: group.arguments) }
            guard let option = child.value as? any DeclaredOption, !option.isList, let label = child.label else {
                return []
            }
            return ["--" + label.dropFirst().replacing(/([a-z])([A-Z])/) { "\($0.1)-\($0.2)" }.lowercased()]
        }
    }

    /// What the parser says of words that it refuses, with a cure, and with an unknown option before what is missing.
    func explained(_ text: String) -> String {
        let names = options
        let unknown =
            words.map(Self.name).first { $0.wholeMatch(of: /--[a-z].*/) != nil && !names.contains($0) }
            ?? text.prefixMatch(of: /Unknown option '(-[a-z])'/).map { String($0.1) }
        let usage = text.firstRange(of: "\nUsage:").map { text[$0.lowerBound...] } ?? ""
        if let unknown, path.last != "psql" {
            let bare = { (name: String) in String(name.dropFirst(2)) }
            let near = { SimilarNames.of(bare(unknown), among: names.map(bare)).first.map { "--\($0)" } }
            let other = Self.habit(unknown, among: path).map { ". Write \(PrintedCommand($0))" }
            let meant = Self.habit(unknown, among: names).map { ". Did you mean '\($0)'?" }
            let cure = Self.cures[unknown].map { ". \($0)" }
            let similar = near().map { ". Did you mean '\($0)'?" }
            return "Unknown option '\(unknown)'\(other ?? meant ?? cure ?? similar ?? "")\(usage)"
        }
        if text.hasPrefix("Unknown option '-"), let word = dashWord(where: { $0.wholeMatch(of: /-[0-9.].*/) != nil }) {
            return word
        }
        guard text.contains("nexpected argument") else { return text }
        return text.dropLast(usage.count)
            + ". Put quotes around a value with spaces, and put each value's option before it.\(usage)"
    }
}

private protocol DeclaredOption { var isList: Bool { get } }

extension Option: DeclaredOption {
    fileprivate var isList: Bool { Value.self is any ExpressibleByArrayLiteral.Type }
}

private protocol DeclaredGroup { var arguments: any ParsableArguments { get } }

extension OptionGroup: DeclaredGroup {
    fileprivate var arguments: any ParsableArguments { wrappedValue }
}
