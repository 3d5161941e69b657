import Foundation
import TestDatabase
import TestRandom
import TestSystem
import Testing

@Suite("Example", .whole)
struct ExampleTests {
    /// Runs `serve --example` on a private PostgreSQL, and gives `body` the lines that it prints once it is ready.
    private static func serve(
        _ versiongate: BuiltBinary,
        _ body: @escaping @Sendable ([String]) async throws -> Void
    ) async throws {
        try await StateFolder.with { folder in
            let output = folder.path + "/output"
            let status = try await ServingBinary.run(
                versiongate, redirecting: ">\(output)", arguments: ["--example"]
            ) { _ in
                var lines: [String] = []
                try await Poll.until("the last line of --example") {
                    lines = try String(contentsOfFile: output, encoding: .utf8).split(separator: "\n").map(String.init)
                    return lines.last?.contains("people look") == true
                }
                try await body(lines)
            }
            #expect(status == 0)
        }
    }

    private static func withBinary(_ body: (BuiltBinary) async throws -> Void) async throws {
        let path = TestDatabase.freshFolder()
        defer { try? FileManager.default.removeItem(atPath: path) }
        try await ClusterTemplate.copy(to: path, isMigrated: true)
        try await body(BuiltBinary(stateDirectory: path))
    }

    @Test("An empty policy gets the example once, and the check that is printed shows it")
    func answersAtOnce() async throws {
        try await Self.withBinary { versiongate in
            for _ in 0..<2 {
                try await Self.serve(versiongate) { lines in
                    #expect(lines.count == 3 && lines[0].hasPrefix("versiongate is ready: "))
                    let curl = try #require(lines[1].firstRange(of: "curl ").map { String(lines[1][$0.lowerBound...]) })
                    let answer = try await versiongate.shell(curl)
                    #expect(answer.output.contains(#""id":"hello-update","title":"Please update""#), "\(answer)")
                    #expect(answer.output.contains("Hello 1.2 is in the App Store."))
                    let pages = try #require(lines[2].split(separator: " ").last.map(String.init))
                    #expect(try await HTTPAnswer(pages + "/").status == 200)
                }
            }
            let changes = try await versiongate.run("history --format json").output
            #expect(changes.split(separator: "serve --example").count == 2, "\(changes)")
        }
    }

    @Test("A policy that is not empty stays as it is, and only the pages are named")
    func keepsAPolicy() async throws {
        try await Self.withBinary { versiongate in
            try await versiongate.run("app add com.example.doto")
            try await Self.serve(versiongate) { lines in
                #expect(lines.count == 2 && lines[1].contains("people look"))
            }
            let apps = try await versiongate.run("app list --format json").output
            #expect(apps.contains("com.example.doto") && !apps.contains("com.example.hello"))
        }
    }
}
