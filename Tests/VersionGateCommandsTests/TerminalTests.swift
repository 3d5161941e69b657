import Foundation
import NIOCore
import NIOPosix
import PolicyStore
import Postgres
import Reports
import Subprocess
import TestDatabase
import Testing
import UpdatePolicy

@testable import VersionGateCommands

@Suite("Terminal output")
struct TerminalTests {
    private static func table() -> TextTable {
        var table = TextTable(["KEY", "STATUS", "TITLE"])
        table.add([("update", nil), ("on", .green), (String(repeating: "long ", count: 20), nil)])
        table.add([("日本", nil), ("off", .faint), ("x", nil)])
        return table
    }

    @Test("Output fits a terminal, and is whole and without colours elsewhere")
    func fits() {
        let whole = Self.table().text(on: .file)
        #expect(whole.contains(String(repeating: "long ", count: 20)))
        #expect(!whole.contains("\u{1B}"))
        for width in [32, 40, 79] {
            let text = Self.table().text(on: Terminal(width: width, usesColor: false))
            let lines = text.split(separator: "\n")
            #expect(lines.allSatisfy { String($0).terminalWidth <= width }, "\(lines)")
            #expect(text.split { $0 == "\n" || $0 == " " }.count { $0 == "long" } == 20, "\(lines)")
            #expect(
                lines[2].hasPrefix("                long") && lines.last?.hasPrefix("日本    off     x") == true,
                "\(lines)"
            )
        }
        let record = Report(
            at: .now(), [.fields([.init("text", .text("one two three four five six seven\neight"))])]
        )
        #expect(
            record.text(on: Terminal(width: 26, usesColor: false))
                == "text  one two three four\n      five six seven\n      eight"
        )
    }

    @Test("A table for whose words a terminal has no room leaves out the columns that may be, and says which")
    func tooWide() {
        let narrow = Self.table().text(on: Terminal(width: 20, usesColor: false))
        #expect(narrow == Self.table().text(on: .file))
        var table = TextTable(["KEY", "STATUS", "WHO", "LAST CHANGE"], optional: [2, 3])
        table.add([("update-1.2", nil), ("partly without lockout", nil), ("everyone", nil), ("change 12 by anna", nil)])
        #expect(
            table.text(on: Terminal(width: 46, usesColor: false)) == """
                KEY         STATUS       WHO       LAST CHANGE
                update-1.2  partly       everyone  change 12
                            without                by anna
                            lockout
                """
        )
        #expect(
            table.text(on: Terminal(width: 24, usesColor: false)) == """
                KEY         STATUS
                update-1.2  partly
                            without
                            lockout
                Not shown, as the
                terminal is too narrow:
                WHO, LAST CHANGE.
                """
        )
        #expect(!table.text(on: .file).contains("Not shown"))
    }

    @Test("Paragraphs break at blanks, keep their indentation, and leave commands whole")
    func breaksParagraphs() {
        let terminal = Terminal(width: 24, usesColor: true)
        #expect(
            terminal.paragraphs("  one two three four five six\nTake it back: versiongate undo 12. And `a b c d` it")
                == """
                  one two three four
                  five six
                Take it back:
                versiongate undo 12. And
                `a b c d` it
                """
        )
        #expect(
            terminal.paragraphs("a \u{1B}[31mred\u{1B}[0m word and four others")
                == "a \u{1B}[31mred\u{1B}[0m word and four\nothers"
        )
        #expect(Terminal.file.paragraphs(String(repeating: "long ", count: 99)).count == 495)
    }

    @Test(
        "A time has its offset and its distance from now",
        arguments: [
            (0, "in 0 s"), (40, "in 40 s"), (-90, "2 min ago"), (7_170, "in 2 h"), (-5_400, "1 h 30 min ago"),
            (190_000, "in 2 d 5 h"), (86_400 * 30, "in 30 d"),
        ]
    )
    func tellsDistance(seconds: Int64, words: String) throws {
        let now = try #require(Timestamp("2026-03-01T12:00:00.5Z"))
        let text = TimeText.local(now.advanced(byMicroseconds: seconds * 1_000_000), from: now)
        #expect(text.hasSuffix(" (\(words))"), "\(text)")
        #expect(text.split(separator: " ").first.flatMap { Timestamp(String($0)) } != nil, "\(text)")
    }

    @Test("Output has colours that do not shift its columns")
    func isColored() {
        let colored = Self.table().text(on: Terminal(width: 60, usesColor: true))
        #expect(colored.contains("\u{1B}[32mon\u{1B}[0m"))
        let plain = colored.replacing(#/\u{1B}\[[0-9]+m/#, with: "")
        #expect(plain == Self.table().text(on: Terminal(width: 60, usesColor: false)))
    }

    @Test("Output shows control characters instead of sending them to the terminal")
    func isVisible() {
        var table = TextTable(["A"])
        table.add([("\u{1B}[2Jx\u{7}\u{9B}\n", nil)])
        #expect(table.text(on: .file) == "A\n\\u{1b}[2Jx\\u{7}\\u{9b}\\n")
    }

    @Test("Output of the built binary has colours on a terminal alone, and never with NO_COLOR", .migratedDatabase)
    func usesColors() async throws {
        try await TestDatabase.current.connect().execute(
            "INSERT INTO rules (key, title, text, enabled) VALUES ('k', repeat('T', 150), 'x', true)"
        )
        let database = BuiltBinary(.current)
        let screen = try await database.onTerminal("stty cols 70; $VERSIONGATE rule list", ["NO_COLOR": nil])
        #expect(screen.contains("\u{1B}[1mKEY"))
        let plain = try await database.onTerminal("stty cols 70; NO_COLOR=1 $VERSIONGATE rule list", ["NO_COLOR": nil])
        #expect(!plain.contains("\u{1B}"))
        let piped = try await database.onTerminal("$VERSIONGATE rule list | cat", ["NO_COLOR": nil])
        #expect(!piped.contains("\u{1B}"))
        #expect(piped.contains(String(repeating: "T", count: 150)))
        #expect(!(try await database.run("rule list").output.contains("\u{1B}")))
    }

    @Test("Output says on a terminal alone what is waited for longer than a second, and wipes it away")
    func showsProgress() async throws {
        let silent = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(silent.localAddress?.port)
        let binary = BuiltBinary(
            environment: ["DATABASE_URL": "postgresql://u@127.0.0.1:\(port)/x?connect_timeout=2&sslmode=disable"]
        )
        let screen = try await binary.onTerminal("$VERSIONGATE rule list", ["NO_COLOR": nil])
        #expect(screen.contains("Connecting to the database..."), "\(screen)")
        #expect(screen.contains("\r\u{1B}[K"))
        let piped = try await binary.run("rule list")
        #expect(piped.status == 1)
        #expect(!piped.errors.contains("Connecting"))
        try await silent.close()
    }
}
