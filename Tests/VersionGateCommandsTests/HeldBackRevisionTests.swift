// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Foundation
import Postgres
import TestDatabase
import TestRandom
import TestSystem
import Testing

@Suite("Held back revisions", .whole, .migratedDatabase)
struct HeldBackRevisionTests {
    private static let client = #"{"bundle":"com.example.doto","version":"1.1"}"#
    private static let rows = """
        INSERT INTO apps (bundle) VALUES ('com.example.doto');
        INSERT INTO rules (key, bundle, versions, title, text, enabled)
        VALUES ('update', 'com.example.doto', '<1.2', 'Please update', '1.2 is there.', true);
        """
    /// A rule whose message ends a debug build that is told so.
    private static let killer = """
        INSERT INTO rules (key, bundle, title, text, enabled) VALUES ('killer', 'com.example.doto', 't', 'x', true);
        """
    private static let answer = #"{"messages":[{"id":"update","title":"Please update","text":"1.2 is there."}]}"#

    private static func run(
        _ folder: StateFolder,
        _ body: @Sendable (ServingBinary) async throws -> Void
    ) async throws -> ServingBinary.Ending {
        let binary = BuiltBinary(environment: [
            "DATABASE_URL": TestDatabase.current.url(user: "versiongate_server"),
            "VERSIONGATE_DEBUG_FATAL_RULE": "killer", "VERSIONGATE_DEBUG_TRIAL_SECONDS": "0.05",
            // To print where a server died takes seconds of a processor.
            "SWIFT_BACKTRACE": "enable=no",
        ])
        return try await ServingBinary.run(
            binary,
            arguments: ["--state-dir", folder.path],
            program: BuiltBinary.besideTests,
            body
        )
    }

    /// Asks until a check fails.
    private static func askUntilItEnds(_ server: ServingBinary) async throws {
        try await Poll.until("the end of the server") {
            (try? await server.check(client)) == nil
        }
    }

    private static func fallBack(in folder: StateFolder) async throws {
        try await Poll.until("a policy that has passed") {
            FileManager.default.fileExists(atPath: folder.policyFile + ".passed")
        }
    }

    @Test("A revision that ends servers costs each two checks, then the one before answers, and the next edit is taken")
    func holdsBack() async throws {
        let database = TestDatabase.current
        try await database.edit(Self.rows)
        try await StateFolder.with { first in
            try await StateFolder.with { second in
                for (number, folder) in [first, second].enumerated() {
                    // The first death of each: the edit arrives while it runs.
                    let ending = try await Self.run(folder) { server in
                        if number == 0 {
                            try await server.check(Self.client) { $0 == Self.answer }
                            try await Self.fallBack(in: folder)
                            try await database.edit(Self.killer)
                        }
                        try await Self.askUntilItEnds(server)
                    }
                    #expect(ending.status == nil)
                    guard number == 0 else { continue }
                    // The other server has the policies that the first one had until then.
                    for name in ["last-good-policy", "last-good-policy.passed"] {
                        try FileManager.default.copyItem(
                            atPath: "\(folder.path)/\(name)",
                            toPath: "\(second.path)/\(name)"
                        )
                    }
                }
                for folder in [first, second] {
                    let ending = try await Self.run(folder) { server in try await Self.askUntilItEnds(server) }
                    #expect(ending.status == nil)
                }
                let before = try await database.connect().query("SELECT max(id) FROM changes").value(as: Int64.self)
                for folder in [first, second] {
                    let ending = try await Self.run(folder) { server in
                        #expect(try await server.check(Self.client) == Self.answer)
                        try await Self.expectSaid(server, before)
                    }
                    #expect(ending.status == 0, "\(ending.errors)")
                    #expect(ending.errors.contains("A revision that ends servers is held back"))
                    #expect(ending.errors.contains("critical"))
                }
                try await Self.expectNextEdit(first)
            }
        }
    }

    private static func expectSaid(_ server: ServingBinary, _ revision: Int64) async throws {
        let ready = try await server.management("/ready")
        #expect(ready.status == 200)
        #expect(ready.body.contains(#""heldBackRevision":\#(revision)"#), "\(ready.body)")
        #expect(ready.body.contains("ended 2 times within 10 minutes"))
        let metrics = try await server.management("/metrics").body
        #expect(metrics.contains("versiongate_policy_held_back 1\n"))
        #expect(metrics.contains("versiongate_policy_reload_fault 1\n"))
        let page = try await server.management("/").body
        #expect(page.contains("is held back") && page.contains("versiongate undo \(revision)"), "\(page)")
        var status = ""
        for _ in 1...200 where !status.contains("holds back") {
            status = try await BuiltBinary(TestDatabase.current).run("status").output
        }
        #expect(status.contains("it holds back a revision by which servers ended, see its /ready"), "\(status)")
    }

    private static func expectNextEdit(_ folder: StateFolder) async throws {
        let ending = try await run(folder) { server in
            #expect(try await server.check(client) == answer)
            let undone = try await BuiltBinary(TestDatabase.current).run("undo --yes")
            #expect(undone.status == 0, "\(undone.errors)")
            _ = try await server.ready { !$0.contains("heldBackRevision") }
            #expect(try await server.check(client) == answer)
            #expect(try await server.management("/metrics").body.contains("versiongate_policy_held_back 0\n"))
            try await Poll.until("deaths that are forgotten") {
                try FileManager.default.contentsOfDirectory(atPath: folder.path).allSatisfy {
                    !$0.hasPrefix("policy-trial.")
                }
            }
        }
        #expect(ending.status == 0)
    }
}
