// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Foundation
import Subprocess
import SystemPackage
import TestDatabase
import Testing

@Suite("The README", .migratedDatabase)
struct ReadmeTests {
    @Test("has commands and SQL that do what they say, one after the other")
    func runs() async throws {
        let database = TestDatabase.current
        let binary = BuiltBinary(database)
        let folder = URL(fileURLWithPath: BuiltBinary.path).deletingLastPathComponent().path
        let path = "\(folder):\(ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin")"
        let blocks = try MarkdownBlock.all(in: "README.md").filter { ["sh", "sql"].contains($0.language) }
        let workingFolder = URL(fileURLWithPath: TestDatabase.freshFolder())
        try FileManager.default.createDirectory(at: workingFolder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: workingFolder) }
        #expect(blocks.count >= 8)
        for block in blocks {
            if block.language == "sql" {
                let result = try await database.psql(block.text, user: "versiongate_admin")
                #expect(result.isSuccess, "\(block.text)\n\(result.errors)")
            } else {
                let result = try await Subprocess.run(
                    .name("bash"),
                    arguments: ["-euo", "pipefail", "-c", block.text],
                    environment: binary.subprocessEnvironment.updating(["PATH": path]),
                    workingDirectory: FilePath(workingFolder.path),
                    output: .string(limit: 1 << 20),
                    error: .string(limit: 1 << 20)
                )
                #expect(result.terminationStatus.isSuccess, "\(block.text)\n\(result.standardError)")
            }
        }
        let update = try await binary.run(
            "check --format json --at +25h bundle=com.example.doto version=1.0 platform=ios os=17 language=de"
        )
        #expect(update.output.contains(#""title":"Bitte aktualisieren","text":"Doto 1.2 ist da.""#), "\(update.output)")
        let blocked = try await binary.run("check --format json bundle=com.example.doto version=1.1 platform=ios os=17")
        #expect(blocked.output.contains(#""id":"bad-1.1""#))
        #expect(blocked.output.contains(#""lockout":true"#))
        let noWayOut = try await binary.run(
            "check --format json bundle=com.example.doto version=1.1 platform=ios os=14"
        )
        #expect(noWayOut.output.contains(#""id":"bad-1.1""#))
        #expect(!noWayOut.output.contains("lockout"))
    }
}
