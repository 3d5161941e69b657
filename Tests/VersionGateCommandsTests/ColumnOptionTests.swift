import Foundation
import TestDatabase
import Testing
import UpdatePolicy

@testable import VersionGateCommands

@Suite("Columns on the command line")
struct ColumnOptionTests {
    /// The commands that alone set a column.
    private static let ownCommands = [
        "app": ["paused": "pause"], "release": ["withdrawn_at": "withdraw"],
        "rule": ["enabled": "enable", "held_at": "hold", "rollout": "rollout"],
    ]

    /// The name of the option for a column.
    private static func option<Record>(for column: PolicyColumn<Record>) -> String {
        let name = column.name.replacing("_", with: "-")
        return column.type.isList ? String(name.dropLast()) : name
    }

    private static func expectOptions<Record: PolicyRecord>(of record: Record.Type, _ noun: String) async throws {
        let leaves = try await CommandTree.read().leaves
        func names(_ verb: String) throws -> Set<String> {
            let leaf = try #require(leaves.first { $0.path == [noun, verb] })
            let arguments = (leaf.command.arguments ?? []).filter { $0.kind == "positional" }.compactMap(\.valueName)
            return leaf.options.union(arguments)
        }
        let (add, edit) = try (names("add"), names("edit"))
        let clear = Set(ClearedField<Record>.allCases.map(\.description))
        for column in Record.columns {
            if let verb = ownCommands[noun]?[column.name] {
                #expect(leaves.contains { $0.path == [noun, verb] }, "\(noun) \(verb)")
                continue
            }
            let name = option(for: column)
            // Options that select rows have the name of their column, so others set it.
            #expect(add.contains(name), "\(noun) add --\(name)")
            #expect(column.role == .identity || edit.contains("set-\(name)") || edit.contains(name), "\(noun) \(name)")
            #expect(column.defaultValue != .null || clear.contains(name), "\(noun) edit --clear \(name)")
        }
    }

    @Test("Every column of apps, releases and rules has an option, and can be cleared where it can be null")
    func options() async throws {
        try await Self.expectOptions(of: App.self, "app")
        try await Self.expectOptions(of: Release.self, "release")
        try await Self.expectOptions(of: Rule.self, "rule")
    }

    /// Words that give every option of `add` for a column a value.
    private static func everyOption<Record: PolicyRecord>(of _: Record.Type, _ noun: String) -> [String] {
        Record.columns.filter { $0.role != .identity && ownCommands[noun]?[$0.name] == nil }.flatMap { column in
            if column.type == .boolean { return ["--\(option(for: column))"] }
            let example =
                switch (column.name, column.type) {
                case ("ends_at", _): "2099-01-01T00:00:00Z"
                case ("bundle", _): "a"
                case (_, .attributes): "channel=beta"
                default: column.definition.example.filter { !"\"[]".contains($0) }.prefix { $0 != "," }.description
                }
            return ["--\(option(for: column))", example]
        }
    }

    @Test(
        "Every column of apps, releases and rules is a member of their JSON and has its place in show",
        .migratedDatabase
    )
    func members() async throws {
        let binary = BuiltBinary(.current)
        for words in [
            ["app", "add", "a"] + Self.everyOption(of: App.self, "app"),
            ["release", "add", "a", "1.2", "--platform", "ios"] + Self.everyOption(of: Release.self, "release"),
            ["rule", "add", "k"] + Self.everyOption(of: Rule.self, "rule"),
        ] {
            let added = try await binary.run(arguments: words + ["--yes"])
            #expect(added.status == 0, "\(words): \(added.errors)")
        }
        for (command, columns) in [
            ("app list", App.columns.map(\.name)), ("app show a", App.columns.map(\.name)),
            ("release list", Release.columns.map(\.name)), ("rule list", Rule.columns.map(\.name)),
            ("rule show k", Rule.columns.map(\.name)),
        ] {
            let output = try await binary.run("\(command) --format json").output
            let document = try JSONSerialization.jsonObject(with: Data(output.utf8))
            let record = (document as? [[String: Any]])?.first ?? document as? [String: Any] ?? [:]
            #expect(Set(columns).subtracting(record.keys).isEmpty, "\(command): \(output)")
            // A release is shown by the list alone, which has no time of withdrawal before there is one.
            let given = columns.filter { $0 != "withdrawn_at" && $0 != "held_at" }
            #expect(given.allSatisfy { record[$0] != nil && !(record[$0] is NSNull) }, "\(command): \(output)")
            guard command.contains("show") else { continue }
            let shown = try await binary.run(command).output.split(separator: "\n").compactMap { line in
                line.hasPrefix(" ") ? nil : line.split(separator: " ").first.map(String.init)
            }
            #expect(Set(given).subtracting(shown).isEmpty, "\(command): \(shown)")
        }
    }
}
