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
            (
                ["undo", "--database-url", "service=staging", "4"], ["PGSERVICE": "prod"],
                ["--database-url", "service=staging"], ["undo", "4"]
            ),
            (["undo"], ["PGSERVICE": "it's"], ["--database-url", #"service='it\'s'"#], ["undo"]),
            (["undo", "--private"], ["PGSERVICE": "prod"], ["--private"], ["undo"]),
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
            (["serve"], ["PGSERVICE": "prod"], [], ["serve"]),
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
            ("undo 4", "undo 4 --database-url service=test"),
            ("database psql -- -c 'SELECT 1'", "database psql --database-url service=test -- -c 'SELECT 1'"),
            ("app add -- -x", "app add --database-url service=test -- -x"),
            ("x --", "x --database-url service=test --"),
            ("app add a --why 'b -- c'", "app add a --why 'b -- c' --database-url service=test"),
            (
                #"app add a --why 'it'\''s -- c' -- d"#,
                #"app add a --why 'it'\''s -- c' --database-url service=test -- d"#
            ),
        ]
    )
    func separator(_ words: String, _ printed: String) {
        let invocation = Invocation(words: [], environment: ["PGSERVICE": "test"])
        Invocation.$current.withValue(invocation) { #expect("\(PrintedCommand(words))" == "versiongate \(printed)") }
    }

    /// Values that the database gives for its commands.
    private static let values = [
        "key": "update-1.2", "rule": "update-1.2", "bundle": "com.acme.notes", "version": "1.2", "platform": "ios",
        "change": "3", "percent": "40", "min_os": "15",
    ]

    @Test(
        "A printed command is taken as it was printed: that of every hint of the database, with its values and without")
    func hints() async throws {
        let invocation = Invocation(words: [], environment: ["PGSERVICE": "test"])
        let templates = Migration.all.flatMap { migration in
            migration.sql.split(separator: "\n").filter { !$0.hasPrefix("--") }.flatMap {
                // Other names in backticks are those of columns and functions.
                $0.matches(of: #/`[^`]+`/#).map(\.output).filter { $0.contains(" ") || $0 == "`history`" }
            }
        }
        let text = Invocation.$current.withValue(invocation) {
            [Self.values, [:]].flatMap { values in
                templates.map { CommandHint.withCommands(String($0)) { values[$0] } + "\n" }
            }.joined()
        }
        let commands = Set(PrintedText.commands(in: text)).sorted()
        #expect(commands.count > 30)
        try await PrintedText.type(commands)
    }

    @Test("A value in a command is a word of a shell")
    func words() {
        let text = CommandHint.withCommands("Once: `app edit {bundle} --store-link {platform}=https://...`.") { name in
            ["bundle": "a'b`c$(d)"][name]
        }
        #expect(text == #"Once: versiongate app edit 'a'\''b`c$(d)' --store-link PLATFORM=https://...."#)
    }

    @Test("The line that is printed to take an edit back acts on the database of the edit, wherever it is typed")
    func undoIsOfTheSameDatabase() async throws {
        let staging = TestDatabase.current.service(user: "versiongate_admin")
        try await StateFolder.with { folder in
            let file = "\(folder.path)/pg_service.conf"
            try Data("[prod]\nhost=/nowhere\n[staging]\n\(staging)\n".utf8).write(to: URL(fileURLWithPath: file))
            let versiongate = BuiltBinary(environment: ["PGSERVICEFILE": file, "PGSERVICE": "prod"])
            let terminal = try await TerminalSession(versiongate)
            defer { terminal.end() }
            let added = try await terminal.run("versiongate app add com.acme.shop --database-url service=staging")
            #expect(added.status == 0, "\(added.output)")
            let line = try #require(added.output.split(separator: "To undo it: ").last).trimmingCharacters(
                in: .whitespacesAndNewlines
            )
            #expect(line == "versiongate undo 1 --database-url service=staging")
            try terminal.type("\(line)\n")
            let question = try await terminal.expect("? [y/N] ")
            #expect(question.contains("Removes from staging ("), "\(question)")
            try terminal.type("y\n")
            try await terminal.expect("Removed app com.acme.shop")
            try await terminal.expect(TerminalSession.prompt)
            let planned = try await BuiltBinary(environment: versiongate.variables).shell(
                "$VERSIONGATE export --database-url service=staging | sed 's/^apps: {}/apps: {a: {}}/' | $VERSIONGATE plan - --database-url service=staging"
            )
            #expect(
                planned.output.hasSuffix(
                    "To apply exactly this: versiongate apply - --revision 2 --database-url service=staging\n"),
                "\(planned.output)\(planned.errors)"
            )
        }
    }
}
