import ArgumentParser
import Foundation

/// The options and arguments that a command takes, as the argument parser describes them.
struct CommandOptions: Decodable {
    /// An option, a flag or a positional argument.
    struct Argument: Decodable {
        /// A name of an option, without its hyphens.
        struct Name: Decodable {
            let kind: String
            let name: String
        }

        let kind: String
        let isOptional: Bool
        let isRepeating: Bool
        let parsingStrategy: String
        let valueName: String?
        let names: [Name]?

        /// The names as they are typed.
        var typedNames: [String] { (names ?? []).map { ($0.kind == "long" ? "--" : "-") + $0.name } }
        var takesValue: Bool { kind == "option" }
        /// Whether a value may begin with a hyphen.
        var takesAnyValue: Bool { parsingStrategy == "unconditional" }
    }

    /// A word of a command line, with the value of an option.
    struct Word {
        let text: String
        /// The option that it is; nil: a positional argument, or an unknown option.
        let option: Argument?
        /// What stands behind the name of the option, or behind its equals sign.
        let value: String?
    }

    private struct Description: Decodable {
        struct Command: Decodable {
            let arguments: [Argument]?
        }
        let command: Command
    }

    private let arguments: [Argument]

    init(_ command: any ParsableCommand.Type) {
        let description = try? JSONDecoder().decode(Description.self, from: Data(command._dumpHelp().utf8))
        arguments = description?.command.arguments ?? []
    }

    /// The names of all options as they are typed.
    var names: [String] { arguments.flatMap(\.typedNames) }

    /// The options whose value is a time.
    var timeOptions: [String] {
        arguments.filter { $0.takesAnyValue && $0.valueName?.contains("time") == true }.compactMap(\.typedNames.first)
    }

    /// What the positional arguments are called in the help.
    var positionals: [Argument] { arguments.filter { $0.kind == "positional" } }

    /// Parts words into options with their values and the others, up to `--`.
    func parted(_ words: some Sequence<String>) -> [Word] {
        var found: [Word] = []
        var rest = Array(words.prefix { $0 != "--" })[...]
        while let word = rest.popFirst() {
            let halves = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard word.hasPrefix("-"), let name = halves.first else {
                found.append(Word(text: word, option: nil, value: nil))
                continue
            }
            let option = arguments.first { $0.typedNames.contains(name) }
            // The name of an option is a value only where every word is one.
            let isNext = option?.takesAnyValue == true || rest.first.map(names.contains) != true
            let value = halves.count > 1 ? halves[1] : option?.takesValue == true && isNext ? rest.popFirst() : nil
            found.append(Word(text: name, option: option, value: value))
        }
        return found
    }
}
