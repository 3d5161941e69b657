// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Foundation
import PolicyStore
import TestDatabase
import Testing

@testable import VersionGateCommands

@Suite("Printed commands", .migratedDatabase)
struct PrintedCommandTests {
    @Test(
        "A printed command names the database as the words of the command did, without a password",
        arguments: [
            (["undo", "4"], [:], [], ["undo", "4"]),
            (["undo", "--context", "staging", "4"], [:], ["--context", "staging"], ["undo", "4"]),
            (["undo", "--context=staging"], ["VERSIONGATE_CONTEXT": "prod"], ["--context", "staging"], ["undo"]),
            (["undo"], ["VERSIONGATE_CONTEXT": "prod"], ["--context", "prod"], ["undo"]),
            (["undo", "--private"], ["VERSIONGATE_CONTEXT": "prod"], ["--private"], ["undo"]),
            (["undo", "--state-dir", "/a/../b"], [:], ["--state-dir", "/b"], ["undo"]),
            (["x", "--", "--private"], [:], [], ["x", "--", "--private"]),
            (
                ["undo", "--database-url", "postgresql://anna@db1/shop"], [:],
                ["--database-url", "postgresql://anna@db1/shop"], ["undo"]
            ),
            (
                ["undo", "--database-url=postgresql://anna:geheim@db1/shop?sslmode=require"], [:],
                ["--database-url", "user=anna dbname=shop host=db1 sslmode=require"], ["undo"]
            ),
            (
                ["undo", "--database-url", "host=db1 password='a b' user='it''s'"], [:], ["--database-url", "URL"],
                ["undo"]
            ),
            (
                ["undo", "--database-url", #"host=db1 password='a b' user='it\'s'"#], [:],
                ["--database-url", #"user='it\'s' host=db1"#], ["undo"]
            ),
            (["serve", "--port", "1"], [:], ["--private"], ["serve", "--port", "1"]),
            (["serve"], ["VERSIONGATE_STATE_DIR": "/b"], ["--state-dir", "/b", "--private"], ["serve"]),
            (["serve"], ["VERSIONGATE_CONTEXT": "prod"], ["--context", "prod"], ["serve"]),
            (
                ["serve", "--state-dir", "/b"], ["DATABASE_URL": "postgresql://gate:geheim@db1/shop?passfile=/x"],
                ["--database-url", "dbname=shop host=db1"], ["serve"]
            ),
            (
                ["serve", "--database-url", "host=db1 user=gate"], ["DATABASE_URL": "host=db2"],
                ["--database-url", "dbname=gate host=db1"], ["serve"]
            ),
        ] as [([String], [String: String], [String], [String])]
    )
    func words(_ words: [String], _ environment: [String: String], _ toType: [String], _ others: [String]) {
        let found = DatabaseWords(words, environment: environment)
        #expect(found.toType == toType)
        #expect(found.others == others)
    }

    @Test("The line that is printed to take an edit back acts on the database of the edit, wherever it is typed")
    func undoIsOfTheSameDatabase() async throws {
        let staging = TestDatabase.current.url(user: "versiongate_admin")
        try await StateFolder.with { folder in
            let settings = URL(fileURLWithPath: folder.path).appending(path: "versiongate")
            try FileManager.default.createDirectory(at: settings, withIntermediateDirectories: true)
            let file = "contexts: {prod: {database-url: 'host=/nowhere'}, staging: {database-url: '\(staging)'}}"
            try Data(file.utf8).write(to: settings.appending(path: "config.yaml"))
            let versiongate = BuiltBinary(environment: [
                "XDG_CONFIG_HOME": folder.path, "VERSIONGATE_CONTEXT": "prod",
            ])
            let terminal = try await TerminalSession(versiongate)
            defer { terminal.end() }
            let added = try await terminal.run("versiongate app add com.acme.shop --context staging")
            #expect(added.status == 0, "\(added.output)")
            let line = try #require(added.output.split(separator: "To take it back: ").last).trimmingCharacters(
                in: .whitespacesAndNewlines
            )
            #expect(line == "versiongate undo 1 --context staging")
            try terminal.type("\(line)\n")
            let question = try await terminal.expect("? [y/N] ")
            #expect(question.contains("Removes from staging ("), "\(question)")
            try terminal.type("y\n")
            try await terminal.expect("Removed app com.acme.shop")
            try await terminal.expect(TerminalSession.prompt)
            let planned = try await BuiltBinary(environment: versiongate.variables).shell(
                "$VERSIONGATE export --context staging | sed 's/^apps: {}/apps: {a: {}}/' | $VERSIONGATE plan - --context staging"
            )
            #expect(
                planned.output.hasSuffix("To do exactly this: versiongate apply - --revision 2 --context staging\n"),
                "\(planned.output)\(planned.errors)"
            )
        }
    }
}
