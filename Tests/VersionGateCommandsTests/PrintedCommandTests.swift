import Foundation
import TestDatabase
import TestRandom
import Testing

@testable import PolicyStore
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
            (["serve"], ["VERSIONGATE_CONTEXT": "prod"], [], ["serve"]),
            (
                ["serve", "--state-dir", "/b"], ["DATABASE_URL": "postgresql://gate:geheim@db1/shop?passfile=/x"], [],
                ["serve"]
            ),
            (["serve", "--database-url", "host=db1 user=gate"], ["DATABASE_URL": "host=db2"], [], ["serve"]),
            (["store", "sync", "--state-dir", "/b"], ["DATABASE_URL": "host=db2"], [], ["store", "sync"]),
            (
                ["x", "--state-dir", "/b", "--private"], ["DATABASE_URL": "host=db2"],
                ["--state-dir", "/b", "--private"], ["x"]
            ),
        ] as [([String], [String: String], [String], [String])]
    )
    func words(_ words: [String], _ environment: [String: String], _ toType: [String], _ others: [String]) {
        let found = DatabaseWords(words, environment: environment)
        #expect(found.toType == toType)
        #expect(found.others == others)
    }

    @Test(
        "A printed command names the database before the words that are for another program or are no options",
        arguments: [
            ("undo 4", "undo 4 --context test"),
            ("database psql -- -c 'SELECT 1'", "database psql --context test -- -c 'SELECT 1'"),
            ("app add -- -x", "app add --context test -- -x"), ("x --", "x --context test --"),
            ("app add a --why 'b -- c'", "app add a --why 'b -- c' --context test"),
            (#"app add a --why 'it'\''s -- c' -- d"#, #"app add a --why 'it'\''s -- c' --context test -- d"#),
        ]
    )
    func separator(_ words: String, _ printed: String) {
        let invocation = Invocation(words: [], environment: ["VERSIONGATE_CONTEXT": "test"])
        Invocation.$current.withValue(invocation) { #expect("\(PrintedCommand(words))" == "versiongate \(printed)") }
    }

    /// Values that faults of the database name.
    private static let values = [
        "rule": "update-1.2", "bundle": "com.acme.notes", "version": "1.2", "platform": "ios", "change": "3",
        "percent": "40", "min_os": "15", "column": "rollout", "hint": "Write it.", "meaning": "none",
    ]

    @Test("A printed command is taken as it was printed: that of every hint, with what the database names and without")
    func hints() async throws {
        let invocation = Invocation(words: [], environment: ["VERSIONGATE_CONTEXT": "test"])
        var text = ""
        for kind in PolicyFault.Kind.allCases {
            for values in [Self.values, [:]] {
                let pairs = values.map { "\"\($0)\": \"\($1)\"" }.joined(separator: ", ")
                let fault = PolicyFault("{\"fault\": \"\(kind.rawValue)\", \"values\": {\(pairs)}}")
                #expect(fault?.kind == kind)
                for place in [CommandHint.Place.options, .policyFile] {
                    let cure = Invocation.$current.withValue(invocation) {
                        CommandHint(place: place).cure(fault, hint: nil)
                    }
                    text += "\(cure ?? "")\n"
                }
            }
        }
        let commands = Set(PrintedText.commands(in: text)).sorted()
        #expect(commands.count > 30)
        try await PrintedText.type(commands)
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
