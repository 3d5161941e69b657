import Foundation
import Testing

/// All commands of the built binary, as it describes them itself.
struct CommandTree: Decodable, Sendable {
    /// A command with its arguments and those below it.
    struct Command: Decodable, Sendable {
        let commandName: String
        let abstract: String?
        let discussion: String?
        let shouldDisplay: Bool?
        let arguments: [Argument]?
        let subcommands: [Command]?
    }

    /// An argument, option or flag.
    struct Argument: Decodable, Sendable {
        let kind: String
        let isOptional: Bool
        let isRepeating: Bool
        let valueName: String?
        let preferredName: Name?
        let abstract: String?
        let shouldDisplay: Bool?

        struct Name: Decodable, Sendable {
            let name: String
        }
    }

    /// A command and the words that call it.
    struct Leaf: Sendable, CustomTestStringConvertible {
        let path: [String]
        let command: Command

        /// The options it takes, without dashes.
        var options: Set<String> { Set((command.arguments ?? []).compactMap { $0.preferredName?.name }) }

        var testDescription: String { path.joined(separator: " ") }
    }

    let command: Command

    private static let tree = Task {
        let help = try await BuiltBinary(environment: [:]).run("--experimental-dump-help")
        return try JSONDecoder().decode(CommandTree.self, from: Data(help.output.utf8))
    }

    /// The tree, which is read once.
    static func read() async throws -> CommandTree { try await tree.value }

    /// Every command that does something, but those of the argument parser itself.
    var leaves: [Leaf] { all.filter { $0.command.subcommands?.isEmpty ?? true } }

    /// Every command, groups as well.
    var all: [Leaf] { Self.below(command, path: []) }

    private static func below(_ command: Command, path: [String]) -> [Leaf] {
        [Leaf(path: path, command: command)]
            + (command.subcommands ?? []).filter { $0.commandName != "help" }
            .flatMap { below($0, path: path + [$0.commandName]) }
    }
}
