import CheckListener
import Foundation
import TestDatabase
import TestRandom
import TestSystem
import Testing

@Suite("HTTP page", .whole, .migratedDatabase, .timeLimit(.minutes(20)))
struct HTTPPageTests {
    private static let page = "Documentation/HTTP.md"

    /// A server on a database that is not there starts at once and has no policy.
    private static let nowhere = "postgresql://127.0.0.1:1/nothing?connect_timeout=2"

    @Test("The HTTP page has commands that make its policy, and answers that a server gives")
    func hasTrueExamples() async throws {
        let database = TestDatabase.current
        let versiongate = BuiltBinary(database)
        let serving = BuiltBinary(environment: ["DATABASE_URL": database.url(user: "versiongate_server")])
        let blocks = try MarkdownBlock.all(in: Self.page)
        for language in ["sh", "console"] {
            #expect(blocks.contains { $0.language == language }, "no block is \(language)")
        }
        try await ServingBinary.run(serving) { server in
            for block in blocks where block.language == "sh" {
                let result = try await Self.run("set -e\n\(block.text)", versiongate, server)
                #expect(result.status == 0, "\(block.text)\n\(result.output)\n\(result.errors)")
            }
            try await server.check(#"{"bundle":"com.example.doto","version":"1.1","platform":"ios"}"#) {
                $0.contains(#""lockout":true"#)
            }
            for sample in blocks.filter({ $0.language == "console" }).flatMap(\.samples) {
                let result = try await Self.run(sample.command, versiongate, server)
                let printed = result.output.replacing("\r\n", with: "\n")
                #expect(
                    printed.trimmingCharacters(in: .newlines) == sample.output.trimmingCharacters(in: .newlines),
                    "\(sample.command)\n\(result.errors)"
                )
            }
            try await Self.compareMembers(server)
        }
    }

    @Test("The HTTP page has each status of a problem, and the members of a server without a database")
    func hasTrueProblems() async throws {
        let onPage = try MarkdownTable.rows(["status", "when"], in: Self.page).map { Int($0["status"].value) }
        #expect(Set(onPage) == Set(ProblemStatus.allCases.filter { $0 != .unavailable }.map(\.code)))
        try await ServingBinary.run(BuiltBinary(environment: ["DATABASE_URL": Self.nowhere])) { server in
            try await Self.compareMembers(server)
        }
    }

    /// Runs commands of the page, on the ports of a server of the test.
    private static func run(
        _ commands: String,
        _ versiongate: BuiltBinary,
        _ server: ServingBinary
    ) async throws -> BuiltBinary.Result {
        let address = server.publicURL.replacing("http://", with: "")
        let here = commands.replacing("localhost:8080", with: address)
            .replacing("http://localhost:9090", with: server.managementURL)
        return try await versiongate.shell("versiongate() { \"$VERSIONGATE\" \"$@\"; }\n\(here)")
    }

    /// The documents of the management listener have no member that the page does not name.
    private static func compareMembers(_ server: ServingBinary) async throws {
        for path in ["/ready", "/policy"] {
            let named = try Set(
                section(path).split(separator: "\n").filter { $0.hasPrefix("| `") }.flatMap { line in
                    line.components(separatedBy: " | ")[0].components(separatedBy: "`").enumerated()
                        .filter { $0.offset % 2 == 1 }.map(\.element)
                }
            )
            let body = try await server.management(path).body
            let document = try #require(try JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any])
            let counting = document["counting"] as? [String: Any] ?? [:]
            let missing = Set(document.keys).union(counting.keys).subtracting(named)
            #expect(missing.isEmpty, "\(path)")
        }
    }

    /// The part of the page below a heading of the third level.
    private static func section(_ heading: String) throws -> String {
        let text = try String(contentsOf: RepositoryFile.url(page), encoding: .utf8)
        return try #require(text.components(separatedBy: "\n### ").first { $0.hasPrefix("\(heading)\n") })
    }
}
