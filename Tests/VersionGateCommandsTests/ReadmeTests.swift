// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Foundation
import NIOCore
import NIOPosix
import Subprocess
import SystemPackage
import TestDatabase
import TestSystem
import Testing

@Suite("README", .timeLimit(.minutes(20)))
struct ReadmeTests {
    /// Checks of the example app, as servers count them.
    private static let counts = """
        INSERT INTO check_counts (hour, bundle, platform, version, os, checks, messages, lockouts)
        VALUES (now(), 'com.example.doto', 'ios', '1.1', '17', 600, 0, 0),
            (now(), 'com.example.doto', 'ios', '1.2', '17', 300, 0, 0),
            (now(), 'com.example.doto', 'android', '1.1', '14', 100, 0, 0)
        """

    @Test(
        "The README is true, walked on a terminal in the state that script/server leaves: commands, SQL and what they print"
    )
    func isTrue() async throws {
        try await StateFolder.with { folder in
            let versiongate = BuiltBinary(stateDirectory: folder.path)
            try await ServingBinary.run(versiongate, arguments: ["--count-interval", "0"]) { server in
                let terminal = try await TerminalSession(versiongate, variables: ["COUNTS": Self.counts])
                defer { terminal.end() }
                _ = try await terminal.run("stty cols 80")
                let repository = RepositoryFile.url("").path
                let example = try await terminal.run("\(repository)/script/example \(BuiltBinary.path)")
                #expect(example.status == 0, "\(example.output)")
                let counted = try await terminal.run(
                    #"psql --quiet "$(versiongate database url | sed s/_admin/_server/)" -c "$COUNTS""#
                )
                #expect(counted.status == 0, "\(counted.output)")
                try await server.check(#"{"bundle":"com.example.hello","version":"1.1","platform":"ios"}"#) {
                    $0.contains("hello-update")
                }
                let files = try await terminal.run(#"cd "$(mktemp -d)""#)
                #expect(files.status == 0)
                let blocks = try MarkdownBlock.all(in: "README.md")
                for language in ["sh", "sql", "console"] {
                    #expect(blocks.contains { $0.language == language }, "no block is \(language)")
                }
                for block in blocks {
                    switch block.language {
                    case "sh": try await Self.run(block.text, on: terminal)
                    case "sql": try await Self.runSQL(block.text, on: terminal)
                    case "console":
                        for sample in block.samples {
                            try await Self.compare(sample, on: terminal, server: server, folder: folder.path)
                        }
                    default: break
                    }
                }
                try await Self.checkOutcome(versiongate)
            }
        }
    }

    /// Commands that end well.
    private static func run(_ commands: String, on terminal: TerminalSession) async throws {
        try Data("set -e\n\(commands)".utf8).write(to: URL(fileURLWithPath: "\(try await folder(terminal))/block.sh"))
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
    private static func compare(
        _ sample: MarkdownBlock.Sample,
        on terminal: TerminalSession,
        server: ServingBinary,
        folder: String
    ) async throws {
        let command = sample.command.replacing("http://localhost:8080", with: server.publicURL)
            .replacing("curl ", with: "curl --silent --show-error ")
        let result = try await terminal.run(command)
        let printed = result.output.replacing(folder, with: "/var/lib/versiongate")
        #expect(
            printed.trimmingCharacters(in: .newlines) == sample.output.trimmingCharacters(in: .newlines),
            "\(sample.command)"
        )
        #expect(result.status == 0)
    }

    private static func folder(_ terminal: TerminalSession) async throws -> String {
        try await terminal.run("pwd").output.trimmingCharacters(in: .newlines)
    }

    /// What clients get in the end.
    private static func checkOutcome(_ versiongate: BuiltBinary) async throws {
        let update = try await versiongate.run(
            "check --format json --at +25h bundle=com.example.doto version=1.0 platform=ios os=17 language=de"
        )
        #expect(update.output.contains(#""title":"Bitte aktualisieren","text":"Doto 1.2 ist da.""#), "\(update.output)")
        let blocked = try await versiongate.run(
            "check --format json bundle=com.example.doto version=1.1 platform=ios os=17"
        )
        #expect(blocked.output.contains(#""id":"bad-1.1""#))
        #expect(blocked.output.contains(#""title":"Back soon""#))
        let noWayOut = try await versiongate.run(
            "check --format json --at +3h bundle=com.example.doto version=1.1 platform=ios os=14"
        )
        #expect(noWayOut.output.contains(#""id":"bad-1.1""#))
        #expect(!noWayOut.output.contains("lockout"))
    }

    /// What the Swift code of the page needs and Linux does not have, with the isolation that Apple's has.
    private static let standIns = """
        import Foundation
        import FoundationNetworking
        @MainActor class UIDevice {
            static var current: UIDevice { UIDevice() }
            var systemVersion: String { "17.0" }
        }
        """

    private static let main = """
        @main struct Main {
            static func main() async { for message in await check() { print(message.id) } }
        }
        """

    /// Answers with a head, and then with a blank every tenth of a second for ever.
    private final class TricklingHandler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let channel = context.channel
            let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n"
            channel.writeAndFlush(ByteBuffer(string: head), promise: nil)
            context.eventLoop.scheduleRepeatedTask(initialDelay: .zero, delay: .milliseconds(100)) { task in
                if channel.isActive {
                    channel.writeAndFlush(ByteBuffer(string: " "), promise: nil)
                } else {
                    task.cancel()
                }
            }
        }
    }

    @Test("The README has Swift code that compiles in Swift 6 mode, reads an answer, and waits for none that trickles")
    func hasSwiftCode() async throws {
        let code = try #require(try MarkdownBlock.all(in: "README.md").first { $0.language == "swift" }).text
            .replacing(#""https://gate.example.com/v1/check""#, with: #"ProcessInfo.processInfo.environment["GATE"]!"#)
            .replacing("Bundle.main.bundleIdentifier", with: #"Optional("com.example.hello")"#)
        #expect(code.contains(#""install": installID()"#))
        let folder = TestDatabase.freshFolder()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let imports = "import Foundation\nimport FoundationNetworking\n"
        for (name, text) in [("StandIns", Self.standIns), ("Check", imports + code), ("Main", Self.main)] {
            try Data(text.utf8).write(to: URL(fileURLWithPath: "\(folder)/\(name).swift"))
        }
        let compiled = try await Subprocess.run(
            .name("swiftc"),
            arguments: [
                "-swift-version", "6", "-warnings-as-errors", "-parse-as-library", "\(folder)/StandIns.swift",
                "\(folder)/Check.swift", "\(folder)/Main.swift", "-o", "\(folder)/check",
            ],
            output: .string(limit: 1 << 20),
            error: .string(limit: 1 << 20)
        )
        try #require(compiled.terminationStatus.isSuccess, "\(compiled.standardError)")
        @Sendable func ask(_ address: String) async throws -> String {
            try await Subprocess.run(
                .path(FilePath("\(folder)/check")),
                environment: .inherit.updating(["GATE": address, "HOME": "\(folder)"]),
                output: .string(limit: 1 << 20),
                error: .discarded
            ).standardOutput
        }
        let trickle = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(TricklingHandler())
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(trickle.localAddress?.port)
        #expect(try await ask("http://127.0.0.1:\(port)/v1/check") == "")
        try await trickle.close()
        try await StateFolder.with { state in
            let versiongate = BuiltBinary(stateDirectory: state.path)
            try await ServingBinary.run(versiongate) { server in
                try await versiongate.run("rule add k --title T --text X --enable")
                try await server.check(#"{"bundle":"com.example.hello"}"#) { $0.contains(#""id":"k""#) }
                #expect(try await ask("\(server.publicURL)/v1/check") == "k\n")
            }
        }
    }
}
