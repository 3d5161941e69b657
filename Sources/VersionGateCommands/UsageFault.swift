import ArgumentParser
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
                let meant = Self.otherNames[word].flatMap { names.contains($0) ? $0 : nil }
                let cure = (meant ?? SimilarNames.of(word, among: names).first).map { "did you mean \($0)?" }
                unknownCommand =
                    "There is no command \"\(path.joined(separator: " ")) \(word)\"; "
                    + (cure ?? "there are \(names.joined(separator: ", "))")
                break
            }
            path.append(word)
            command = next
        }
    }

    /// What people write for commands that have no similar name.
    private static let otherNames = [
        "delete": "remove", "rename": "edit", "import": "apply", "revert": "undo", "rollback": "undo",
    ]

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
        let option = index > 0 && words[index - 1].hasPrefix("--") ? words[index - 1] : "--OPTION"
        return
            "\"\(words[index])\" begins with \"-\", so each of its letters counts as an option. Write the value after the name "
            + "of its option: \(option)=\(words[index])"
    }

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
        let help = VersionGate.helpMessage(for: command, includeHidden: true)
        let names = help.matches(of: /--[a-z][a-z-]*/).map { String($0.output) }
        let unknown = words.map(Self.name).first { $0.wholeMatch(of: /--[a-z].*/) != nil && !names.contains($0) }
        let usage = text.firstRange(of: "\nUsage:").map { text[$0.lowerBound...] } ?? ""
        if let unknown, path.last != "psql" {
            let meant = SimilarNames.of(String(unknown.dropFirst(2)), among: names.map { String($0.dropFirst(2)) })
                .first
            return "Unknown option '\(unknown)'\(meant.map { ". Did you mean '--\($0)'?" } ?? "")\(usage)"
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
