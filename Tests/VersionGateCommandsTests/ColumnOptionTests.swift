// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

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
        "rule": ["enabled": "enable", "rollout": "rollout"],
    ]

    private static func expectOptions<Record: EditableRecord>(of record: Record.Type, _ noun: String) async throws {
        let leaves = try await CommandTree.read().leaves
        func names(_ verb: String) throws -> Set<String> {
            let leaf = try #require(leaves.first { $0.path == [noun, verb] })
            let arguments = (leaf.command.arguments ?? []).filter { $0.kind == "positional" }.compactMap(\.valueName)
            return leaf.options.union(arguments)
        }
        let (add, edit) = try (names("add"), names("edit"))
        let clear = Set(Record.clearedFields.map(\.description))
        for column in Record.columns {
            if let verb = ownCommands[noun]?[column.name] {
                #expect(leaves.contains { $0.path == [noun, verb] }, "\(noun) \(verb)")
                continue
            }
            let name = column.name.replacing("_", with: "-")
            // An option of a list gives one of its values; of those that select rows, another one sets the column.
            let forms = [name, String(name.dropLast()), "set-\(name)", "set-\(name.dropLast())"]
            #expect(!add.isDisjoint(with: forms), "\(noun) add \(name)")
            #expect(column.role == .identity || !edit.isDisjoint(with: forms), "\(noun) edit \(name)")
            // The build of a release identifies a row.
            if column.defaultValue == .null, name != "build" {
                #expect(!clear.isDisjoint(with: forms), "\(noun) edit --clear \(name)")
            }
        }
    }

    @Test("Every column of apps, releases and rules has an option, and can be cleared where it can be null")
    func options() async throws {
        try await Self.expectOptions(of: App.self, "app")
        try await Self.expectOptions(of: Release.self, "release")
        try await Self.expectOptions(of: Rule.self, "rule")
    }

    @Test("Every column of apps, releases and rules is a member of their JSON", .migratedDatabase)
    func members() async throws {
        let binary = BuiltBinary(.current)
        for line in ["app add a", "release add a 1 --platform ios", "rule add k --bundle a --title T --text X"] {
            let added = try await binary.run(line)
            #expect(added.status == 0, "\(added.errors)")
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
        }
    }
}
