// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Foundation
import TestDatabase
import TestSystem
import Testing

/// What the program answers where it refuses or warns, in one page that can be read in one go.
@Suite("Messages", .migratedDatabase, .timeLimit(.minutes(20)))
struct MessageTests {
    private static let page = "Documentation/Messages.md"

    private static var commands: [String] {
        get throws {
            try String(contentsOf: RepositoryFile.url("Tests/Vectors/messages.txt"), encoding: .utf8)
                .split(separator: "\n").map(String.init).filter { !$0.hasPrefix("#") }
        }
    }

    private func prepare() async throws {
        try await TestDatabase.current.edit(
            """
            INSERT INTO apps (bundle, name) VALUES ('com.example.doto', 'Doto');
            INSERT INTO releases (bundle, platform, version, live_at) VALUES ('com.example.doto', 'ios', '1.2', '2026-01-01Z')
            """,
            """
            INSERT INTO rules (key, bundle, versions, title, text) VALUES
                ('bad-1.1', 'com.example.doto', '=1.1', 'Please update', 'Version 1.1 loses data.')
            """,
            """
            UPDATE rules SET title = 'Update' WHERE key = 'bad-1.1';
            INSERT INTO rules (key, bundle, title, text) VALUES ('ramp', 'com.example.doto', 't', 'x');
            INSERT INTO rollout_steps VALUES ('ramp', '2030-01-01Z', 50)
            """
        )
    }

    /// What a command printed, without what differs from run to run.
    private static func answer(_ result: BuiltBinary.Result) -> String {
        (result.output + result.errors)
            .replacing(#/\S+/socket:\d+/test_\w+/#, with: "DATABASE")
            .replacing(#/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/#, with: "TIME")
            .replacing("(\(NSUserName()))", with: "(USER)")
            .replacing(#/process \d+/#, with: "process N")
            .trimmingCharacters(in: .newlines)
    }

    @Test("The page of messages is what the commands answer, in the words of the command line")
    func page() async throws {
        try await prepare()
        var page = """
            # Messages

            What the program answers where it refuses or warns. A test makes this page: it runs the command lines of
            `Tests/Vectors/messages.txt` one after the other on a small policy, and fails where the page is stale. `DATABASE`
            and `TIME` stand for what differs from run to run; the number is the exit code.


            """
        for command in try Self.commands {
            let result = try await BuiltBinary(.current).shell("$VERSIONGATE \(command) </dev/null")
            let answer = Self.answer(result)
            page += "## versiongate \(command)\n\n```\n\(answer)\n```\n\nExit code \(result.status).\n\n"
            #expect(!answer.isEmpty, "\(command) says nothing")
            let words =
                #/\b(SELECT|INSERT|UPDATE|DELETE|NULL|COMMIT|ROLLBACK|TRUNCATE|duplicate key|constraint|violates)\b/#
            #expect(answer.firstMatch(of: words) == nil || command.contains("psql"), "\(command): \(answer)")
        }
        page.removeLast()
        let url = RepositoryFile.url(Self.page)
        let written = try? String(contentsOf: url, encoding: .utf8)
        if written != page {
            let fresh = URL(fileURLWithPath: NSTemporaryDirectory()).appending(path: "versiongate-messages.md")
            try page.write(to: fresh, atomically: true, encoding: .utf8)
            Issue.record("the page is stale: cp \(fresh.path) \(url.path)")
        }
    }
}
