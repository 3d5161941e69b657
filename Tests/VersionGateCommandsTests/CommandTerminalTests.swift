import Foundation
import Subprocess
import TestDatabase
import Testing

/// What commands do on a terminal alone; the rest of them is in `Tests/Cases/commands`.
@Suite("Commands on a terminal", .migratedDatabase, .timeLimit(.minutes(20)))
struct CommandTerminalTests {
    private var versiongate: BuiltBinary { BuiltBinary(.current) }

    /// An app with a lockout that reaches half of its checks.
    private func prepare() async throws {
        try await TestDatabase.current.edit(
            """
            INSERT INTO apps (bundle) VALUES ('a');
            INSERT INTO store_links VALUES ('a', 'ios', 'https://example.com');
            INSERT INTO releases (bundle, platform, version, live_at) VALUES ('a', 'ios', '2.0', '2026-01-01Z');
            INSERT INTO rules (key, bundle, title, text, link, versions, lockout, enabled)
            VALUES ('lock', 'a', 'T', 'X', 'store', '<1.5', true, true);
            """
        )
        try await TestDatabase.current.addCounts(
            "(now(), 'a', 'ios', '1.0', 100, 0, 0), (now(), 'a', 'ios', '1.9', 60, 0, 0), (now(), 'a', 'ios', '2.0', 40, 0, 0)"
        )
    }

    @Test(
        "An edit that needs consent is asked about once, by app and database, after its impact was shown",
        arguments: [
            ("app remove a", "  rule lock (enabled lockout, app a)\n", "app a, "),
            ("rule remove lock", "  rule lock (enabled lockout, app a)", "removes rule lock (enabled lockout, app a)"),
            ("release remove a 2.0", "  release a 2.0 ios", "removes release a 2.0 ios"),
            ("release withdraw a 2.0", "  release a 2.0 ios", "withdraws release a 2.0 ios"),
            ("block a 1.9", "30.0 % of the 200 checks of a", "newly lock out up to 30.0 % of the recent checks"),
            ("apply $FILE", "  release a 2.0 ios\n", "removes app a, "),
            ("undo", "The newest change: 1  ", "ndoes change 1"),
        ]
    )
    func ask(_ line: String, _ row: String, _ summary: String) async throws {
        try await prepare()
        let database = TestDatabase.current
        let revision = try await database.revision()
        try await StateFolder.with { folder in
            let file = folder.path + "/none.yaml"
            try Data("versiongate: 1\napps: {}\nrules: {}\n...\n".utf8).write(to: URL(fileURLWithPath: file))
            let terminal = try await TerminalSession(versiongate, variables: ["FILE": file])
            defer { terminal.end() }
            for answer in ["n", "", "yesterday"] {
                try terminal.type("versiongate \(line)\n")
                let shown = try await terminal.expect("? [y/N] ")
                #expect(shown.contains(row) && shown.contains(summary), "\(shown)")
                #expect(shown.hasSuffix("/\(database.name)"), "\(shown)")
                try terminal.type("\(answer)\n")
                try await terminal.expect("cancelled; nothing was changed")
                #expect(try await database.revision() == revision)
            }
            try terminal.type("versiongate \(line)\n")
            try await terminal.expect("? [y/N] ")
            try terminal.type("y\n")
            #expect(!(try await terminal.expect("versiongate undo \(revision + 1)\n").contains("[y/N]")))
        }
    }

    @Test("Consent given while somebody else edits is refused, and both edits are as they were")
    func isGivenForWhatWasSeen() async throws {
        try await prepare()
        let terminal = try await TerminalSession(versiongate)
        defer { terminal.end() }
        try terminal.type("versiongate rule remove lock\n")
        try await terminal.expect("? [y/N] ")
        try await TestDatabase.current.edit("UPDATE rules SET title = 'Other'")
        try terminal.type("y\n")
        try await terminal.expect("changed by somebody else")
        try await terminal.expect(TerminalSession.prompt)
        #expect(try await TestDatabase.current.psql("SELECT key, title FROM rules").output == "lock|Other\n")
    }

    @Test("A line break follows the document of a feed, and what it leaves out is wrapped at any width")
    func feed() async throws {
        try await TestDatabase.current.edit(
            """
            INSERT INTO apps (bundle, store_id) VALUES ('a', 7);
            INSERT INTO releases (bundle, platform, version, live_at) VALUES ('a', 'ios', '2.0', '2026-01-01Z');
            INSERT INTO rules (key, bundle, target, title, text, enabled, lockout)
            VALUES ('lock', 'a', '2.0', 'T', 'X', true, true);
            """
        )
        let terminal = try await TerminalSession(versiongate, variables: ["TZ": "UTC"])
        defer { terminal.end() }
        let shown = try await terminal.run("versiongate feed show a updates.json")
        #expect(shown.output.replacing("\r", with: "").hasSuffix("}\n"), "\(shown.output)")
        for width in [30, 50, 80, 200] {
            _ = try await terminal.run("stty cols \(width)")
            let shown = try await terminal.run("versiongate feed show a lookup > /dev/null")
            let lines = shown.output.replacing("\r", with: "").split(separator: "\n")
            #expect(lines.contains { $0.contains("lock: ") }, "\(shown.output)")
            #expect(lines.allSatisfy { $0.replacing(#/\u{1B}\[\d*m/#, with: "").count <= width }, "\(shown.output)")
        }
    }

    @Test("The impact of a rule fits the width that is there, and has colours without NO_COLOR alone")
    func impact() async throws {
        try await prepare()
        let coloured = try await versiongate.onTerminal("stty cols 80; $VERSIONGATE impact lock", ["NO_COLOR": nil])
        #expect(coloured.contains("\u{1B}[31m"))
        for width in [70, 100, 140] {
            // A slow machine shows, and erases, that it reads the database.
            let plain = try await versiongate.onTerminal("stty cols \(width); $VERSIONGATE impact lock")
                .replacing("\u{1B}[K", with: "")
            #expect(!plain.contains("\u{1B}"))
            let charts = plain.split(whereSeparator: \.isNewline).filter {
                $0.hasPrefix("at 100 %") || $0.hasPrefix("1.0")
            }
            #expect(charts.allSatisfy { $0.count <= width })
            #expect(charts.contains { $0.count > width - 45 })
        }
    }
}
