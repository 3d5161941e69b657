// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Foundation
import TestDatabase
import Testing
import UpdateFeeds

@Suite("Feeds page", .migratedDatabase, .timeLimit(.minutes(20)))
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
            case "mustache":
                try Data(block.text.utf8).write(to: folder.appending(path: "version.json"))
            case "console":
                for sample in block.samples {
                    let result = try await run(sample.command)
                    #expect(result.status == 0 && result.errors.isEmpty, "\(sample.command)\n\(result.errors)")
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
        for format in FeedFormat.allCases where format != .codePushBefore {
            #expect(shown.contains { $0.contains(" com.example.doto \(format.name)") }, "no document of \(format.name)")
        }
        #expect(shown.contains { $0.contains(" version.json") })
    }
}
