import Foundation
import ScenarioSupport
import Testing

@Suite("Scenarios")
struct ScenarioTests {
    /// A scenario and the name of its file.
    struct Case: Sendable, CustomTestStringConvertible {
        var file: String
        var scenario: Scenario

        var testDescription: String { "\(file): \(scenario.name)" }
    }

    /// The folder that all client libraries share, beside this one.
    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
        "../../../scenarios"
    ).standardizedFileURL

    /// Whether the library can verify signatures: on Linux if it is built with `VERSIONGATE_CRYPTO=1`.
    private static var verifies: Bool {
        #if canImport(CryptoKit)
            true
        #else
            ProcessInfo.processInfo.environment["VERSIONGATE_CRYPTO"] != nil
        #endif
    }

    private static let cases = Result {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".json") }
        return try names.filter { $0 != "signatures.json" || verifies }.sorted().flatMap { name in
            try Scenario.all(in: folder.appendingPathComponent(name)).map { Case(file: name, scenario: $0) }
        }
    }

    @Test("Scenarios hold", arguments: (try? cases.get()) ?? [])
    func holds(_ test: Case) async throws {
        do {
            try await ScenarioRun.run(test.scenario, on: MemoryServer())
        } catch {
            Issue.record("\(test.file): \(test.scenario.name): \(error)")
        }
    }

    @Test("Scenarios can be read, and have names of their own")
    func read() throws {
        let cases = try Self.cases.get()
        #expect(Set(cases.map(\.file)).count > 5)
        #expect(cases.count > 100)
        #expect(Set(cases.map(\.scenario.name)).count == cases.count)
    }

    @Test("The program for real servers says what it does, and which step differs")
    func program() async throws {
        let folder = try TemporaryFolder()
        let scenarios = """
            [{"name": "right", "rule": "asks", "app": {"build": null, "platform": "linux"}, "steps": [
                {"start": {"version": "2.0"}, "check": {}, "asks": true, "shows": []}, {"stored": {"install": "*"}}]},
             {"name": "wrong", "rule": "asks", "steps": [
                {"start": {}}, {"check": {}, "asks": true, "shows": ["news"]}, {"forget": true}]}]
            """
        try scenarios.write(to: folder["file.json"], atomically: true, encoding: .utf8)
        // Nothing listens on the port, and the lines that the program awaits are there before.
        let output = try await Command.run(
            """
            for line in 1 2 3 4 5; do echo '{"requests": []}'; done |
                "\(Command.product("ScenarioProgram"))" http://127.0.0.1:1 file.json || echo '{"status": '$?'}'
            """,
            in: folder
        )
        let lines = try output.split(separator: "\n").map { try JSON(text: Data($0.utf8)) }
        #expect(
            lines.map(\.text) == [
                #"{"app":{"bundle":"com.example.doto","platform":"linux","version":"1.0"},"scenario":"right"}"#,
                #"{"app":{"bundle":"com.example.doto","platform":"linux","version":"2.0"}}"#,
                #"{"checked":{"asked":true}}"#,
                #"{"ok":true,"result":"right"}"#,
                #"{"app":{"build":"42","bundle":"com.example.doto","platform":"ios","version":"1.0"},"scenario":"wrong"}"#,
                #"{"checked":{"asked":true}}"#,
                #"{"ok":false,"result":"wrong","step":2,"why":"shown: [], and not [\"news\"]"}"#,
                #"{"done":2}"#,
                #"{"status":1}"#,
            ]
        )
    }
}
