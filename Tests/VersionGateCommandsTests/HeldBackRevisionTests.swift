import Foundation
import Postgres
import TestDatabase
import TestRandom
import TestSystem
import Testing

@Suite("Held back revisions", .whole, .migratedDatabase)
struct HeldBackRevisionTests {
    /// A rule whose message ends a debug build that is told so.
    private static let killer = """
        INSERT INTO rules (key, bundle, title, text, enabled) VALUES ('killer', 'com.example.doto', 't', 'x', true);
        """
    /// - Parameter seconds: How long a policy is on trial.
    @discardableResult
    private static func run(
        _ folder: StateFolder,
        trial seconds: String = "0.05",
        database: String = TestDatabase.current.url(user: "versiongate_server"),
        _ body: @Sendable (ServingBinary) async throws -> Void
    ) async throws -> ServingBinary.Ending {
        let binary = BuiltBinary(environment: [
            "DATABASE_URL": database,
            "VERSIONGATE_DEBUG_FATAL_RULE": "killer", "VERSIONGATE_DEBUG_TRIAL_SECONDS": seconds,
            // To print where a server died takes seconds of a processor.
            "SWIFT_BACKTRACE": "enable=no",
        ])
        return try await ServingBinary.run(
            binary, arguments: ["--state-dir", folder.path], program: BuiltBinary.besideTests, body
        )
    }

    /// Asks until a check fails.
    private static func askUntilItEnds(_ server: ServingBinary) async throws {
        try await Poll.until("the end of the server") {
            (try? await server.check(UpdateRule.client)) == nil
        }
    }

    /// Somebody kills servers while they have what is newest on trial.
    private static func die(_ times: Int, in folder: StateFolder) async throws {
        for _ in 0..<times {
            try folder.age(by: 5)
            let ending = try await run(folder, trial: "1000") { server in
                _ = try await server.check(UpdateRule.client)
                kill(server.processIdentifier, SIGKILL)
            }
            #expect(ending.status == nil)
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
        try await database.edit(UpdateRule.rows)
        try await StateFolder.with { first in
            try await StateFolder.with { second in
                for (number, folder) in [first, second].enumerated() {
                    // The first death of each: the edit arrives while it runs.
                    let ending = try await Self.run(folder) { server in
                        if number == 0 {
                            try await server.check(UpdateRule.client) { $0 == UpdateRule.answer }
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
                            atPath: "\(folder.path)/\(name)", toPath: "\(second.path)/\(name)"
                        )
                    }
                }
                for folder in [first, second] {
                    try folder.age(by: 5)
                    let ending = try await Self.run(folder) { server in try await Self.askUntilItEnds(server) }
                    #expect(ending.status == nil)
                }
                let before = try await database.connect().query("SELECT max(id) FROM changes").value(as: Int64.self)
                for folder in [first, second] {
                    let ending = try await Self.run(folder) { server in
                        #expect(try await server.check(UpdateRule.client) == UpdateRule.answer)
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

    private static let lockout = """
        INSERT INTO apps (bundle) VALUES ('com.example.doto');
        INSERT INTO releases (bundle, platform, version, live_at)
        VALUES ('com.example.doto', 'ios', '2', '2020-01-01Z');
        INSERT INTO rules (key, bundle, versions, title, text, link, enabled, lockout)
        VALUES ('update', 'com.example.doto', '<1.2', 'Please update', '1.2 is there.', 'https://a.example', true, true);
        """
    /// A server answers with the lockout, until it has passed its trial.
    private static func lockOut(in folder: StateFolder) async throws {
        try await run(folder) { server in
            try await server.check(locked) { $0.contains("lockout") }
            try await fallBack(in: folder)
        }
    }

    private static let locked = #"{"bundle":"com.example.doto","version":"1.1","platform":"ios"}"#

    @Test("A lockout that was taken away does not come back where somebody kills servers, with the database or without")
    func bringsNoLockoutBack() async throws {
        let database = TestDatabase.current
        try await database.edit(Self.lockout)
        try await StateFolder.with { folder in
            try await Self.lockOut(in: folder)
            try await database.connect().execute("SELECT brake_rule('update', 'lockout', 'incident 42')")
            try await Self.die(2, in: folder)
            for url in [database.url(user: "versiongate_server"), "postgresql://127.0.0.1:1/nothing"] {
                try await Self.run(folder, database: url) { server in
                    let answer = try await server.check(Self.locked)
                    #expect(answer.contains("Please update") && !answer.contains("lockout"), "\(answer)")
                    let ready = try await server.management("/ready")
                    #expect(ready.status == 200 && ready.body.contains("lockoutsOff"), "\(ready.body)")
                    #expect(try await server.management("/metrics").body.contains("versiongate_policy_held_back 1\n"))
                }
            }
        }
    }

    @Test("What is held back is taken without a restart once the deaths are ten minutes ago, and is not weeks later")
    func lapses() async throws {
        let database = TestDatabase.current
        try await database.edit(Self.lockout)
        try await StateFolder.with { folder in
            try await Self.lockOut(in: folder)
            try await database.edit("UPDATE rules SET title = 'Update now'")
            try await Self.die(2, in: folder)
            // The older of both counts for some seconds more.
            try folder.setDeaths([580, 570])
            let ending = try await Self.run(folder) { server in
                try await server.check(Self.locked) { $0.contains("Update now") && $0.contains("lockout") }
                let ready = try await server.management("/ready").body
                #expect(!ready.contains("heldBackRevision") && !ready.contains("lockoutsOff"), "\(ready)")
            }
            #expect(ending.errors.contains("A revision that ends servers is held back"), "\(ending.errors)")
            try await Self.die(2, in: folder)
            try folder.age(by: 3_000_000)
            let later = try await Self.run(folder) { server in
                let answer = try await server.check(Self.locked)
                #expect(answer.contains("Update now") && answer.contains("lockout"), "\(answer)")
            }
            #expect(!later.errors.contains("held back"), "\(later.errors)")
        }
    }

    @Test("Where no policy has passed, the newest answers after any number of deaths, and the server is ready")
    func takesTheNewestWhereNoneHasPassed() async throws {
        try await TestDatabase.current.edit(Self.lockout)
        try await StateFolder.with { folder in
            try await Self.die(3, in: folder)
            let ending = try await Self.run(folder) { server in
                #expect(try await server.check(Self.locked).contains("lockout"))
                let ready = try await server.management("/ready")
                #expect(ready.status == 200 && ready.body.contains(#""source":"database""#), "\(ready.body)")
            }
            #expect(ending.errors.contains("it answers all the same, because none has passed before it"))
        }
    }

    @Test("Two servers of one state folder that are killed together have died once")
    func countsServersTogether() async throws {
        let database = TestDatabase.current
        try await database.edit(Self.lockout)
        try await StateFolder.with { folder in
            try await Self.lockOut(in: folder)
            try await database.edit("UPDATE rules SET title = 'Update now'")
            try await Self.run(folder, trial: "1000") { first in
                try await Self.run(folder, trial: "1000") { second in
                    for server in [first, second] { _ = try await server.check(Self.locked) }
                    for server in [first, second] { kill(server.processIdentifier, SIGKILL) }
                }
            }
            let ending = try await Self.run(folder) { server in
                let answer = try await server.check(Self.locked)
                #expect(answer.contains("Update now") && answer.contains("lockout"), "\(answer)")
            }
            #expect(!ending.errors.contains("held back"), "\(ending.errors)")
        }
    }

    private static func expectSaid(_ server: ServingBinary, _ revision: Int64) async throws {
        let ready = try await server.management("/ready")
        #expect(ready.status == 200)
        #expect(ready.body.contains(#""heldBackRevision":\#(revision)"#), "\(ready.body)")
        #expect(ready.body.contains("ended twice within 10 minutes") && ready.body.contains("lockoutsOff"))
        #expect(!ready.body.contains("undo"))
        let metrics = try await server.management("/metrics").body
        #expect(metrics.contains("versiongate_policy_held_back 1\n"))
        #expect(metrics.contains("versiongate_policy_reload_fault 1\n"))
        let page = try await server.management("/").body
        #expect(page.contains("is held back") && page.contains("That ends by itself at"), "\(page)")
        #expect(!page.contains("versiongate undo \(revision)") && !page.contains("the database was away"), "\(page)")
        let sentence =
            "it holds back a revision by which servers ended, and sends lockouts as plain messages, see its /ready"
        _ = try await BuiltBinary(.current).status(saying: sentence)
    }

    private static func expectNextEdit(_ folder: StateFolder) async throws {
        let ending = try await run(folder) { server in
            #expect(try await server.check(UpdateRule.client) == UpdateRule.answer)
            try await BuiltBinary(TestDatabase.current).succeed("undo --yes")
            _ = try await server.ready { !$0.contains("heldBackRevision") }
            #expect(try await server.check(UpdateRule.client) == UpdateRule.answer)
            #expect(try await server.management("/metrics").body.contains("versiongate_policy_held_back 0\n"))
            try await Poll.until("deaths that are forgotten") {
                folder.deaths.isEmpty
            }
        }
        #expect(ending.status == 0)
    }
}
