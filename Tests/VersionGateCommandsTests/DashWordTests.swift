import Foundation
import Testing

/// Words that begin with a hyphen, of which the argument parser reads each letter as an option of its own.
@Suite("Words that begin with a hyphen")
struct DashWordTests {
    /// Where no database answers, so that no command can do anything.
    private let away = BuiltBinary.withoutDatabase()

    /// Whether a command reads all its words itself.
    private static func isSwept(_ leaf: CommandTree.Leaf) -> Bool { leaf.path.last != "psql" }

    private func expect(_ arguments: [String], isUsage: Bool) async throws {
        let result = try await away.run(arguments: arguments)
        #expect(isUsage ? result.status == 64 : result.status != 0, "\(arguments): \(result)")
        #expect(!(result.output + result.errors).contains("OVERVIEW"), "\(arguments): \(result)")
        #expect(result.output.isEmpty && !result.errors.isEmpty, "\(arguments): \(result)")
    }

    @Test("A word that begins with a hyphen and is no option is refused by every command, and asks for no help")
    func isRefused() async throws {
        let others = ["-fh", "-30", "-.5h", "-1", "-h2"]
        for (number, leaf) in try await CommandTree.read().leaves.filter(Self.isSwept).enumerated() {
            let sample = try CommandSample.arguments(for: leaf)
            // One parser reads the words of all commands, so each of the others is tried with some.
            for word in ["-2h", others[number % others.count]] {
                try await expect(leaf.path + [word], isUsage: true)
                try await expect(sample + [word], isUsage: true)
            }
        }
    }

    @Test("The value of any option is no question for help, though it has an h in it")
    func isValue() async throws {
        // An option means the same to each command that has it.
        var seen: Set<String> = []
        for leaf in try await CommandTree.read().leaves where Self.isSwept(leaf) {
            let sample = try CommandSample.arguments(for: leaf)
            for argument in leaf.command.arguments ?? [] where argument.kind == "option" {
                let name = "--\(argument.preferredName?.name ?? "")"
                guard !sample.contains(where: { $0 == name || $0.hasPrefix(name + "=") }),
                    seen.insert(name).inserted
                else { continue }
                // A setting of the server may be anything that its own reader takes; nothing is served on a port of -2.
                try await expect(sample + [name, "-2h"], isUsage: leaf.path == ["serve"])
            }
        }
        #expect(seen.count > 60)
    }

    @Test("A noun without a verb has done nothing, and ends as what is wrong")
    func nounsAlone() async throws {
        let tree = try await CommandTree.read()
        for group in tree.all where group.command.subcommands?.isEmpty == false {
            let result = try await away.run(arguments: group.path)
            #expect(result.status == 64 && result.output.isEmpty && result.errors.contains("SUBCOMMANDS"), "\(group)")
            #expect(try await away.run(arguments: group.path + ["--help"]).status == 0)
        }
        try await away.succeed("--version")
    }
}
