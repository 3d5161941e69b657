// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import TestDatabase
import Testing

@Suite("Administration in SQL", .migratedDatabase)
struct AdministrationInSQLTests {
    @Test("The guide has SQL that does what it says, one after the other, and shows what psql answers")
    func runs() async throws {
        let blocks = try MarkdownBlock.all(
            in: "Documentation/AdministrationInSQL.md"
        )
        #expect(blocks.count >= 30)
        for (number, block) in blocks.enumerated() where block.language.hasPrefix("sql") {
            let next = blocks.dropFirst(number + 1).first
            let shown = next?.language == "" ? next?.text : nil
            let result = try await TestDatabase.current.psql(
                "SET TimeZone = 'UTC';\n\(block.text)",
                user: "versiongate_admin"
            )
            if block.language != "sql" {
                #expect(result.isSuccess == (block.language == "sql warned"), "\(block.text)")
                for line in try #require(shown).split(separator: "\n") {
                    #expect(result.errors.contains(line), "\(block.text)\n\(result.errors)")
                }
            } else {
                #expect(result.isSuccess && result.errors.isEmpty, "\(block.text)\n\(result.errors)")
                #expect(result.output == shown ?? "", "\(block.text)")
            }
        }
    }
}
