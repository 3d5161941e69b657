import Foundation
import TestDatabase
import TestFeeds
import TestRandom
import Testing
import UpdateFeeds

@Suite("Feeds page", .whole, .migratedDatabase, .timeLimit(.minutes(20)))
struct FeedsPageTests {
    private static let page = "Documentation/Feeds.md"

    @Test("The page of feeds has commands that make its policy, and the documents of each format and its template")
    func hasTrueDocuments() async throws {
        let versiongate = BuiltBinary(.current)
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        func run(_ commands: String) async throws -> BuiltBinary.Result {
            try await versiongate.shell(
                "set -e\ncd \(folder.path)\nversiongate() { \"$VERSIONGATE\" \"$@\"; }\n\(commands)"
            )
        }
        var shown: [String] = []
        for block in try MarkdownBlock.all(in: Self.page) {
            switch block.language {
            case "sh":
                let result = try await run(block.text)
                #expect(result.status == 0, "\(block.text)\n\(result.errors)")
            case "console":
                for sample in block.samples {
                    let result = try await run(sample.command)
                    #expect(result.status == 0, "\(sample.command)\n\(result.errors)")
                    #expect(
                        result.output.trimmingCharacters(in: .newlines)
                            == sample.output.trimmingCharacters(in: .newlines),
                        "\(sample.command)"
                    )
                    shown.append(sample.command)
                }
            default: break
            }
        }
        for format in FeedFormat.allCases {
            #expect(
                shown.contains { $0.contains(" com.example.doto \(format.rawValue)") },
                "no document of \(format.rawValue)"
            )
        }
        // The documents of its templates do with the clients of their formats what the policy says, and nothing while the app is
        // paused.
        func decisions(_ reader: TemplateReader, _ question: String = "") async throws -> [ReaderDecision] {
            #expect(shown.contains { $0.contains(" \(reader.rawValue)") }, "no document of \(reader.rawValue)")
            let document = try await versiongate.run(
                "feed show com.example.doto \(reader.rawValue) platform=android\(question)"
            )
            return ["1.0.0", "1.1.0", "1.2.0"].map { version in
                let host = ReaderHost(version: version, build: 10, os: "14", platform: "android")
                return reader.decision(Data(document.output.utf8), host)
            }
        }
        let (prompt, nothing) = (ReaderDecision.prompt("1.2.0"), ReaderDecision.nothing)
        for (reader, decided) in [
            (.minimumVersion, [.lockout("1.1.0"), prompt, nothing]), (.appUpdaterJSON, [prompt, prompt, nothing]),
            (.appUpdaterXML, [prompt, prompt, nothing]), (.androidSiren, [.lockout("1.1.0"), nothing, nothing]),
        ] as [(TemplateReader, [ReaderDecision])] {
            #expect(try await decisions(reader) == decided, "\(reader)")
        }
        for (edit, isQuiet) in [("rule disable security-1.1 --yes", false), ("app pause com.example.doto --yes", true)]
        {
            let result = try await versiongate.run(edit)
            #expect(result.status == 0, "\(result.errors)")
            for reader in TemplateReader.allCases {
                let decided = isQuiet ? [nothing, nothing, nothing] : [prompt, prompt, nothing]
                #expect(try await decisions(reader) == decided, "\(reader) after \(edit)")
            }
        }
    }
}
