import Foundation
import TestDatabase
import TestRandom
import Testing

@testable import VersionGateCommands

/// What takes a terminal, or a time zone of its own; the rest is in `Tests/Cases/commands/words.case`.
@Suite("Screens", .whole, .migratedDatabase, .timeLimit(.minutes(20)))
struct ScreenTests {
    private static let key = "a-lockout-with-a-key-of-forty-characters"

    private func prepare() async throws {
        try await TestDatabase.current.edit(
            """
            INSERT INTO apps (bundle) VALUES ('com.example.the-longer-name-of-an-app');
            INSERT INTO store_links VALUES ('com.example.the-longer-name-of-an-app', 'ios', 'https://example.com');
            INSERT INTO releases (bundle, platform, version, min_os, live_at) VALUES
                ('com.example.the-longer-name-of-an-app', 'ios', '2', '15', '2026-01-01T00:00:00.25Z'),
                ('com.example.the-longer-name-of-an-app', 'ios', '3', NULL, now() + interval '3 hours 10 seconds');
            INSERT INTO rules (key, bundle, enabled, lockout, versions, title, text, link, ends_at) VALUES
                ('\(Self.key)', 'com.example.the-longer-name-of-an-app', true, true, '<2', 'Please update your app as soon as you can',
                    'This version loses what you have written when its window is closed.', 'store',
                    now() + interval '2 hours 10 seconds'),
                ('update', 'com.example.the-longer-name-of-an-app', true, false, NULL, 'Version 2 is there', 'Get it now', 'store', NULL);
            UPDATE rules SET target = '2', rollout = 25 WHERE key = 'update'
            """,
            "UPDATE rules SET title = 'Now' WHERE key = 'update'",
            "UPDATE rules SET title = 'Later' WHERE key = 'update'"
        )
        let bundle = "com.example.the-longer-name-of-an-app"
        try await TestDatabase.current.addCounts(
            "(now(), '\(bundle)', 'ios', '1.0', 900, 0, 0), (now() - interval '1 day', '\(bundle)', 'ios', '2', 900, 0, 0)"
        )
    }

    private static let commands = [
        "rule list", "release list", "app list", "status", "history", "history --oneline", "history --details",
        "stats com.example.the-longer-name-of-an-app", "impact \(key)", "rule show \(key)", "undo 2",
        "check --explain bundle=com.example.the-longer-name-of-an-app version=1 platform=ios os=14",
        "check bundle=com.example.the-longer-name-of-an-app version=1 platform=ios os=16",
        "app remove com.example.the-longer-name-of-an-app </dev/null",
        "rule disable no-such-rule-of-any-app-that-is-known-here",
        "export | sed s/Later/Earlier/ | versiongate plan -",
    ]

    @Test("Screens fit any width, break at words and never cut a key", arguments: [60, 80, 200])
    func fit(width: Int) async throws {
        try await prepare()
        let terminal = try await TerminalSession(BuiltBinary(.current))
        defer { terminal.end() }
        _ = try await terminal.run("stty cols \(width)")
        for command in Self.commands {
            let screen = try await terminal.run("versiongate \(command)").output
            #expect(!screen.contains("…"), "\(command): \(screen)")
            for line in screen.split(separator: "\n") where !line.contains("/dev/shm") && !line.contains("/tmp") {
                let isTable = Self.tables.contains { command.hasPrefix($0) }
                let isChart = Self.charts.contains { command.hasPrefix($0) }
                let mayBreak = isTable && width < 80 || isChart && width < 200
                #expect(mayBreak || String(line).terminalWidth <= width, "\(command): \(line)")
            }
            if ["rule list", "status", "history --details"].contains(command) || command.hasPrefix("check") {
                #expect(screen.contains(Self.key), "\(command): \(screen)")
            }
        }
        for command in Self.mistakes {
            let screen = try await terminal.run("versiongate \(command)").output
            // A command is never broken.
            for line in screen.split(separator: "\n") where !line.contains("versiongate ") && !line.hasPrefix("Usage:")
            {
                #expect(String(line).terminalWidth <= width, "\(command): \(line)")
            }
        }
    }

    /// What has tables, which a terminal breaks where it is too narrow for the columns that must be there.
    private static let tables = ["rule list", "release list", "app list", "status", "undo"]
    private static let charts = ["stats", "impact"]

    /// What is refused or warned about at length.
    private static let mistakes = [
        "rule add k --title T --text X --versions '≤1.2'", "rule list --bundle a --bundle b",
        "check bundle=com.example.the-longer-name-of-an-app platform=iphone",
        "check bundle=com.example.the-longer-name-of-an-app --revision 0",
    ]

    @Test("No command shows its own colours as text, nor any escape code but those of colours")
    func showsColours() async throws {
        try await prepare()
        let terminal = try await TerminalSession(BuiltBinary(.current), variables: ["TERM": "xterm"])
        defer { terminal.end() }
        for command in Self.commands + ["migrate --status", "user list", "feed list", "app show a"] {
            let screen = try await terminal.run("versiongate \(command)").output
            #expect(!screen.contains("\\u{"), "\(command): \(screen)")
            #expect(!screen.replacing(/\u{1B}\[[0-9]+m/, with: "").contains("\u{1B}"), "\(command): \(screen)")
        }
        #expect(try await terminal.run("versiongate status").output.contains("\u{1B}[1mlast change\u{1B}[0m  "))
    }

    @Test("Every time that is printed has one spelling, in the local time zone, and JSON has UTC")
    func spellTimes() async throws {
        try await prepare()
        let binary = BuiltBinary(.current)
        for command in Self.commands where !command.contains("|") && !command.contains("<") {
            let printed = try await binary.shell("TZ=XYZ-05:30 $VERSIONGATE \(command) 2>&1").output
            for time in printed.matches(of: #/\d{4}-\d\d-\d\d[T ]\d\d:\d\d\S*/#) {
                #expect(
                    String(time.output).wholeMatch(of: #/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+05:30\W*/#) != nil,
                    "\(command): \(time.output)"
                )
            }
        }
        let status = try await binary.shell("TZ=XYZ-05:30 $VERSIONGATE status").output
        #expect(
            status.contains(try Regex(#"\+05:30 \(in (2 h|1 h [0-9]+ min)\) +rule \#(Self.key) ends\n"#)), "\(status)"
        )
        let json = try await binary.shell("TZ=XYZ-05:30 $VERSIONGATE status --format json").output
        #expect(json.contains(#"Z","clock_offset""#), "\(json)")
        let releases = try await binary.shell("TZ=XYZ-05:30 $VERSIONGATE release list").output
        #expect(releases.contains("live since 2026-01-01T05:30:00+05:30\n"), "\(releases)")
    }
}
