import Foundation
import TestDatabase
import TestSystem
import Testing

/// Where the blocks of a page are carried out: a policy, a server, a folder and a bash.
final class PageStage {
    /// Pages that are read at a terminal, beside the server and the private PostgreSQL that `script/server` leaves.
    private static let firstPages: Set = ["README", "QuickStart", "Apps"]

    /// What pages say that there is: files of `Tests/Cases/fixtures`.
    private static let fixtures = [
        "CommandLine": "command-line", "Operations": "doto", "PolicyFile": "doto",
        "Rules": "rules-page", "Runbook": "runbook",
    ]

    /// Pages of the owner of the database.
    private static let ownersPages: Set = ["Privacy", "Upgrade"]

    /// The name of a page, by its path in the repository.
    static func name(_ page: String) -> String {
        page.replacing("Documentation/", with: "").replacing(".md", with: "")
    }

    private let versiongate: BuiltBinary
    private let server: ServingBinary
    private let folder: String
    private let terminal: TerminalSession?
    private let holes: TranscriptHoles

    private init(
        _ page: String, _ versiongate: BuiltBinary, _ server: ServingBinary, _ folder: String,
        _ terminal: TerminalSession? = nil
    ) throws {
        (self.versiongate, self.server, self.folder, self.terminal) = (versiongate, server, folder, terminal)
        let blocks = try MarkdownBlock.all(in: page)
        var holes = TranscriptHoles(inputs: blocks.map(\.commands).joined(separator: "\n"))
        if let state = versiongate.variables["VERSIONGATE_STATE_DIR"] {
            holes.texts = [(state, "/var/lib/versiongate")]
        }
        self.holes = holes
    }

    /// Runs `body` where a page is carried out; the database of the test is that of all but the first pages.
    static func with(_ page: String, _ body: @Sendable (PageStage) async throws -> Void) async throws {
        try await StateFolder.with { state in
            try await StateFolder.with { folder in
                guard firstPages.contains(name(page)) else {
                    try await withDatabase(page, folder.path, body)
                    return
                }
                let versiongate = BuiltBinary(stateDirectory: state.path)
                try await ServingBinary.run(versiongate, arguments: ["--example", "--count-interval", "1"]) { server in
                    let terminal = try await TerminalSession(versiongate, variables: ["TZ": "UTC"])
                    defer { terminal.end() }
                    _ = try await terminal.run("stty cols 80")
                    try await body(try PageStage(page, versiongate, server, folder.path, terminal))
                }
            }
        }
    }

    private static func withDatabase(
        _ page: String, _ folder: String, _ body: @Sendable (PageStage) async throws -> Void
    ) async throws {
        let database = TestDatabase.current
        if let fixture = fixtures[name(page)] {
            let file = Transcript.folder.appending(path: "fixtures/\(fixture).sql").path
            let result = try await database.psql("SET SESSION AUTHORIZATION versiongate_admin;\n\\i \(file)")
            #expect(result.isSuccess, "\(result.errors)")
        }
        let user = ownersPages.contains(name(page)) ? nil : "versiongate_admin"
        let versiongate = BuiltBinary(environment: [
            "DATABASE_URL": user.map { database.url(user: $0) } ?? database.url()
        ])
        let serving = BuiltBinary(environment: ["DATABASE_URL": database.url(user: "versiongate_server")])
        let arguments = ["--count-interval", "0", "--brake-file", "\(folder)/brake", "--release-tokens"]
        try await ServingBinary.run(serving, arguments: arguments) { server in
            let stage = try PageStage(page, versiongate, server, folder)
            _ = try await stage.run("versiongate export --output policy.yaml")
            try await body(stage)
        }
    }

    /// Switches the brake of the server on.
    func brake() throws {
        try Data().write(to: URL(filePath: "\(folder)/brake"))
    }

    /// Carries out a block, and expects what stands below it.
    func carryOut(_ block: MarkdownBlock) async throws {
        switch block.language {
        case "yaml":
            try Data(block.text.utf8).write(to: URL(filePath: "\(folder)/policy.yaml"))
            for (command, status) in [("plan policy.yaml", 2), ("apply policy.yaml --yes", 0), ("plan policy.yaml", 0)]
            {
                let result = try await run("versiongate \(command)")
                #expect(result.status == status, "\(command)\n\(result.output)")
            }
        case "console":
            for sample in block.samples { try await compare(sample.command, sample.output) }
        case "sql":
            try Data(block.text.utf8).write(to: URL(filePath: "\(folder)/block.sql"))
            let answer = block.answer ?? ""
            // Of a refusal or a warning the page may leave out its details and hints; the cases have them.
            let shortening = answer.contains("HINT: ") ? "" : " | sed '/^DETAIL: \\|^HINT: /d'"
            let command = "versiongate database psql --quiet --no-align --tuples-only < block.sql 2>&1"
            try await compare(command + shortening, answer, of: block.text)
        default:
            if let answer = block.answer {
                try await compare(block.text, answer)
                return
            }
            let result = try await run(block.text)
            #expect(result.status == 0, "\(block.text)\n\(result.output)")
            #expect(!result.output.contains("OVERVIEW: "), "\(block.text)\n\(result.output)")
            #expect(terminal == nil || !result.output.contains("Warning"), "\(block.text)\n\(result.output)")
        }
    }

    /// Expects of a command that it prints what the page shows. What the page shows behind a question is typed.
    private func compare(_ command: String, _ shown: String, of text: String? = nil) async throws {
        let answers = shown.matches(of: #/\[y\/N\] (.*)/#).map { "\n\($0.output.1)" }.joined()
        let wanted = comparable(shown.replacing(#/\[y\/N\] .*/#, with: "[y/N]"))
        var result = try await run(command, typing: answers)
        // Counts are written a moment after the checks.
        let end = ContinuousClock.now + Patience.limit
        while command.contains(#/^versiongate (impact|status)/#), comparable(result.output) != wanted,
            ContinuousClock.now < end
        {
            result = try await run(command)
        }
        #expect(comparable(result.output) == wanted, "\(text ?? command)\n\(result.output)")
        #expect(result.status == 0, "\(text ?? command)")
    }

    /// Runs commands in the folder of the page, in a bash that asks the server in place of one at the usual ports.
    ///
    /// - Parameter answers: What is typed behind them at a terminal.
    func run(_ commands: String, typing answers: String = "") async throws -> (output: String, status: Int) {
        if commands.contains("curl ") { try await waitForEdits() }
        let here = commands.replacing(#/(http:\/\/)?(localhost|127\.0\.0\.1):8080/#, with: server.publicURL)
            .replacing(#/(http:\/\/)?(localhost|127\.0\.0\.1):9090/#, with: server.managementURL)
        let script = """
            set -eo pipefail
            cd '\(folder)'
            curl() { command curl --silent --show-error "$@"; }
            \(here)
            """
        try Data(script.utf8).write(to: URL(filePath: "\(folder)/block.sh"))
        if let terminal { return try await terminal.run("(. '\(folder)/block.sh')\(answers)") }
        let result = try await versiongate.shell(
            "export TZ=UTC PGTZ=UTC PATH=\"$(dirname \"$VERSIONGATE\"):$PATH\"; . '\(folder)/block.sh'"
        )
        return (result.output, result.status)
    }

    /// Returns when the server answers by the newest revision.
    private func waitForEdits() async throws {
        let ask = "SELECT revision FROM policy_revision"
        let revision = try await versiongate.run(arguments: ["database", "psql", "-Atc", ask]).output.dropLast()
        try await server.ready(at: #require(Int(revision)))
    }

    /// A text without what differs from run to run; of what a terminal shows also without the breaks of lines, which depend
    /// on that.
    private func comparable(_ text: String) -> String {
        var text = text.replacing("\r\n", with: "\n")
        if terminal != nil { text = text.split(whereSeparator: \.isWhitespace).joined(separator: " ") }
        return holes.cut(text).trimmingCharacters(in: .newlines)
            .replacing("(root)", with: "({user})")
            .replacing(#/\(in [0-9a-z ]+\)/#, with: "(in {duration})")
            .replacing(#/SERVER REVISION [^ ]+ /#, with: "SERVER REVISION {public} ")
            .replacing(#/"ageSeconds":[0-9.]+/#, with: "\"ageSeconds\":{n}")
    }
}
