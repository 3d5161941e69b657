import Foundation
import TestRandom
import TestSystem
import Testing

@Suite("First pages", .whole, .timeLimit(.minutes(20)))
struct ReadmeTests {
    @Test(
        "The first pages are true, walked on a terminal in the state that script/server leaves: commands and what they print",
        arguments: ["README.md", "Documentation/QuickStart.md", "Documentation/Apps.md"]
    )
    func isTrue(page: String) async throws {
        try await StateFolder.with { folder in
            let versiongate = BuiltBinary(stateDirectory: folder.path)
            try await ServingBinary.run(versiongate, arguments: ["--example", "--count-interval", "1"]) { server in
                let terminal = try await TerminalSession(versiongate, variables: ["TZ": "UTC"])
                defer { terminal.end() }
                _ = try await terminal.run("stty cols 80")
                let files = try await terminal.run(#"cd "$(mktemp -d)""#)
                #expect(files.status == 0)
                let blocks = try MarkdownBlock.all(in: page)
                for language in ["sh", "console"] {
                    #expect(blocks.contains { $0.language == language }, "no block is \(language)")
                }
                #expect(blocks.contains { $0.language == "sql" } == (page != "Documentation/Apps.md"))
                for block in blocks {
                    switch block.language {
                    case "sh": try await Self.run(block.text, on: terminal, server: server)
                    case "sql": try await Self.runSQL(block.text, on: terminal)
                    case "console":
                        for sample in block.samples {
                            try await Self.compare(sample, on: terminal, server: server, folder: folder.path)
                        }
                    default: break
                    }
                }
                try await Self.checkOutcome(of: page, versiongate)
            }
        }
    }

    /// Commands that end well.
    private static func run(
        _ commands: String,
        on terminal: TerminalSession,
        server: ServingBinary
    ) async throws {
        if commands.contains("curl ") { try await waitForEdits(terminal, server) }
        let script = "set -e\n\(commands.replacing("http://localhost:8080", with: server.publicURL))"
        try Data(script.utf8).write(to: URL(fileURLWithPath: "\(try await folder(terminal))/block.sh"))
        let result = try await terminal.run("(. ./block.sh)")
        #expect(result.status == 0, "\(commands)\n\(result.output)")
        #expect(!result.output.contains("Warning"), "\(commands)\n\(result.output)")
    }

    /// Statements that psql takes as they are typed.
    private static func runSQL(_ statements: String, on terminal: TerminalSession) async throws {
        try terminal.type("versiongate database psql --no-readline\n")
        try await terminal.expect("versiongate=> ")
        try terminal.type("\(statements)\\q\n")
        let output = try await terminal.expect(TerminalSession.prompt)
        #expect(output.ranges(of: "INSERT 0 1").count == statements.ranges(of: ";\n").count, "\(statements)\n\(output)")
        #expect(!output.contains("ERROR") && !output.contains("WARNING"), "\(statements)\n\(output)")
    }

    /// A command that prints what the page shows, on the usual port and in the usual folder.
    ///
    /// What the page shows behind a question is typed.
    private static func compare(
        _ sample: MarkdownBlock.Sample,
        on terminal: TerminalSession,
        server: ServingBinary,
        folder: String
    ) async throws {
        if sample.command.hasPrefix("curl ") { try await waitForEdits(terminal, server) }
        let command = sample.command.replacing("http://localhost:8080", with: server.publicURL)
            .replacing("curl ", with: "curl --silent --show-error ")
        let answers = sample.output.matches(of: #/\[y\/N\] (.*)/#).map { "\n\($0.output.1)" }.joined()
        let shown = comparable(sample.output.replacing(#/\[y\/N\] .*/#, with: "[y/N]"))
        var result = try await terminal.run(command + answers)
        var printed = comparable(result.output.replacing(folder, with: "/var/lib/versiongate"))
        // Counts are written a moment after the checks.
        let isLate = ["versiongate impact ", "versiongate status"].contains { sample.command.hasPrefix($0) }
        let end = ContinuousClock.now + Patience.limit
        while isLate, printed != shown, ContinuousClock.now < end {
            result = try await terminal.run(command)
            printed = comparable(result.output.replacing(folder, with: "/var/lib/versiongate"))
        }
        #expect(printed == shown, "\(sample.command)\n\(result.output)")
        #expect(result.status == 0, "\(sample.command)")
    }

    /// Returns when the server answers by the newest revision.
    private static func waitForEdits(_ terminal: TerminalSession, _ server: ServingBinary) async throws {
        let revision = try await terminal.run("versiongate database psql -Atc 'SELECT revision FROM policy_revision'")
            .output.trimmingCharacters(in: .newlines)
        let member = #""revision":\#(revision)"#
        _ = try await server.ready { $0.contains("\(member),") || $0.contains("\(member)}") }
    }

    /// A text without what differs from run to run: times, names of user, host and process, and the breaks of lines, which
    /// depend on them.
    private static func comparable(_ text: String) -> String {
        var text = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        text.replace(#/\d{4}-\d\d-\d\d(?:T[0-9:.]+(?:Z|[+\-]\d\d:\d\d))?/#, with: "TIME")
        text.replace(#/\(in [0-9a-z ]+\)/#, with: "(in TIME)")
        text.replace(#/versiongate_admin \([^)]*\)/#, with: "versiongate_admin (USER)")
        text.replace(#/(change \d+[^,:]*), \d+ (?:s|min) ago/#) { "\($0.output.1), TIME ago" }
        text.replace(#/servers [^ ]+ at/#, with: "servers HOST at")
        text.replace(#/\(process \d+ of/#, with: "(process PID of")
        return text
    }

    private static func folder(_ terminal: TerminalSession) async throws -> String {
        try await terminal.run("pwd").output.trimmingCharacters(in: .newlines)
    }

    /// What clients get in the end, and got at revisions of the page.
    private static func checkOutcome(of page: String, _ versiongate: BuiltBinary) async throws {
        func answer(_ members: String) async throws -> String {
            try await versiongate.run("check --format json bundle=com.example.doto platform=ios \(members)").output
        }
        let update = #""text":"Doto 1.2 is available.""#
        let lockout = #""lockout":true"#
        switch page {
        case "README.md":
            #expect(try await answer("--at +25h version=1.0 os=17").contains(update))
            #expect(try await answer("--revision 7 version=1.1 os=17").contains(lockout))
            #expect(try await !answer("version=1.1 os=17").contains(lockout))
            let noWayOut = try await answer("--revision 7 version=1.1 os=14")
            #expect(noWayOut.contains(#""id":"block-1.1""#) && !noWayOut.contains(lockout), "\(noWayOut)")
        case "Documentation/QuickStart.md":
            let revisions = [
                (6, "1.1", false), (7, "1.1", true), (8, "1.1", false), (9, "1.0", true), (10, "1.0", false),
            ]
            for (revision, version, isLocked) in revisions {
                let past = try await answer("--revision \(revision) --at +25h version=\(version) os=17")
                #expect(past.contains(update), "\(revision): \(past)")
                #expect(past.contains(lockout) == isLocked, "\(revision): \(past)")
            }
            #expect(try await answer("version=1.1 os=17") == "{\"messages\":[]}\n")
            let rules = try await versiongate.run("rule list --format json").output
            #expect(rules.contains("hello-update") && !rules.contains("update-1.2"), "\(rules)")
        default:
            #expect(try await answer("version=1.0 os=17").contains(lockout))
        }
    }
}
