import Foundation
import Postgres
import PrivatePostgres
import TestDatabase
import TestRandom
import TestSystem
import Testing

@Suite("Concurrent apply", .whole, .migratedDatabase)
struct PolicyFileConcurrencyTests {
    /// The example with other texts in every table that has some.
    private static let edited = PolicyFileFixture.example
        .replacing("name: Doto", with: "name: Do To")
        .replacing("https://example.com/ios", with: "https://example.com/2")
        .replacing("live_at: 2026-03-01", with: "live_at: 2026-04-01")
        .replacing("title: Please update", with: "title: Update now")
        .replacing("title: Bitte aktualisieren", with: "title: Jetzt aktualisieren")
        .replacing("rollout: 5}", with: "rollout: 6}")

    @Test(
        "Applying a policy file refuses what was planned before somebody's edit by psql, says who it was, and keeps their edit"
    )
    func tellsTheLoser() async throws {
        try await PolicyFileFixture.with { fixture in
            try await fixture.binary.run("apply --yes \(try fixture.write(PolicyFileFixture.example))")
            let file = try fixture.write(Self.edited)
            #expect(try await fixture.binary.run("plan \(file)").status == 2)
            let psql = try await fixture.database.psql(
                "UPDATE rules SET enabled = false WHERE key = 'bad-1.1'",
                user: "versiongate_admin"
            )
            #expect(psql.isSuccess)
            let loser = try await fixture.binary.run("apply \(file) --revision 1")
            #expect(loser.status == 1)
            #expect(
                loser.errors.hasPrefix(
                    "Error: the policy is at revision 2, not at 1\nChange 2 by versiongate_admin with psql, "
                )
            )
            #expect(loser.errors.contains(": rules bad-1.1\nNothing was changed."))
            #expect(
                try await fixture.database.psql(
                    "SELECT name FROM apps; SELECT enabled FROM rules WHERE key = 'bad-1.1'"
                )
                .output == "Doto\nf\n"
            )
        }
    }

    @Test(
        "Applying a policy file waits for an open transaction with the same rows: loses if that commits, wins if it is rolled back",
        arguments: ["COMMIT", "ROLLBACK"]
    )
    func waits(end: String) async throws {
        try await PolicyFileFixture.with { fixture in
            try await fixture.binary.run("apply --yes \(try fixture.write(PolicyFileFixture.example))")
            let file = try fixture.write(Self.edited)
            let watcher = try await fixture.database.connect()
            let admin = try PsqlSession(fixture.database)
            try admin.run("BEGIN; UPDATE rules SET title = 'By psql' WHERE key = 'update-1.2';")
            let result = try await fixture.run(["apply", "--yes", file]) { _ in
                try await fixture.wait(watcher, until: PolicyFileFixture.commandWaits)
                try admin.run("\(end);")
            }
            try admin.end()
            if end == "COMMIT" {
                #expect(result.status == 1)
                #expect(result.errors.contains("the policy is at revision 2, not at 1"), "\(result.errors)")
            } else {
                #expect(result.status == 0, "\(result.errors)")
            }
            let titles = try await fixture.database.psql("SELECT name FROM apps; SELECT title FROM rules ORDER BY key")
                .output
            #expect(titles == (end == "COMMIT" ? "Doto\nPlease update\nBy psql\n" : "Do To\nUpdate now\nUpdate now\n"))
            await watcher.close()
        }
    }

    @Test("Applying a policy file does not wait for an open transaction with other rows, and both edits stay")
    func doesNotWait() async throws {
        try await PolicyFileFixture.with { fixture in
            try await fixture.binary.run("apply --yes \(try fixture.write(PolicyFileFixture.example))")
            let file = try fixture.write(PolicyFileFixture.example.replacing("name: Doto", with: "name: Do To"))
            let admin = try PsqlSession(fixture.database)
            try admin.run("BEGIN; UPDATE rules SET title = 'By psql' WHERE key = 'update-1.2';")
            #expect(try await fixture.binary.run("apply \(file)").status == 0)
            try admin.run("COMMIT;")
            try admin.end()
            let names = try await fixture.database.psql("SELECT name FROM apps; SELECT title FROM rules ORDER BY key")
                .output
            #expect(names == "Do To\nPlease update\nBy psql\n")
            #expect(try await fixture.revision() == 3)
        }
    }

    @Test("Applying a policy file leaves the policy wholly before or wholly after when it is killed at random points")
    func survivesKills() async throws {
        try await PolicyFileFixture.with { fixture in
            let files = [
                try fixture.write(PolicyFileFixture.example, to: "a.yaml"),
                try fixture.write(Self.edited, to: "b.yaml"),
            ]
            try await fixture.binary.run("apply --yes \(files[0])")
            var states = [try await fixture.exported()]
            try await fixture.binary.run("apply --yes \(files[1])")
            states.append(try await fixture.exported())
            let watcher = try await fixture.database.connect()
            let holder = try PsqlSession(fixture.database, user: PrivatePostgres.superuser)
            // Where apply is held up: each table it writes, and the row of the revision at its end.
            let rows = [
                "apps", "store_links", "releases", "rules WHERE key = 'bad-1.1'", "rules WHERE key = 'update-1.2'",
                "rule_texts", "rollout_steps", "policy_revision",
            ]
            var present = 1
            var endings: Set<Int> = []
            for round in 0..<KillTests.rounds {
                let wanted = 1 - present
                if round % 5 == 4 {
                    // Somewhere between its connection and its end, as the scheduler will have it.
                    let looks = Int.random(in: 0...40)
                    let revision = try await fixture.revision()
                    _ = try await fixture.run(["apply", "--yes", files[wanted]]) { process in
                        try await fixture.wait(
                            watcher,
                            until: "\(PolicyFileFixture.commandIsConnected)"
                                + " OR (SELECT revision FROM policy_revision) <> \(revision)"
                        )
                        for _ in 0..<looks { _ = try await watcher.query("SELECT 1") }
                        kill(process, SIGKILL)
                    }
                } else {
                    try holder.run("BEGIN; SELECT FROM \(rows[Int.random(in: rows.indices)]) FOR UPDATE;")
                    let result = try await fixture.run(["apply", "--yes", files[wanted]]) { process in
                        // On a busy machine it may have given up its wait before anybody looked.
                        try await Poll.until("apply to wait or to end") {
                            var ended = siginfo_t()
                            waitid(P_PID, id_t(process), &ended, WEXITED | WNOHANG | WNOWAIT)
                            if ended.si_signo != 0 { return true }
                            let question = "SELECT \(PolicyFileFixture.commandWaits)"
                            return try await watcher.query(question).value(as: Bool.self)
                        }
                        kill(process, SIGKILL)
                    }
                    let gaveUp = result.errors.contains("is editing the same rows")
                    #expect(result.status == -1 || gaveUp, "\(result.errors)")
                    try holder.run("ROLLBACK;")
                }
                // What the killed command had begun is over when its session is.
                try await fixture.wait(watcher, until: "NOT \(PolicyFileFixture.commandIsConnected)")
                let state = try await fixture.exported()
                let ending = try #require(states.firstIndex(of: state), "round \(round):\n\(state)")
                endings.insert(ending == present ? 0 : 1)
                present = ending
            }
            #expect(endings.contains(0))
            #expect(try await fixture.binary.run("apply --yes \(files[0])").status == 0)
            #expect(try await fixture.exported() == states[0])
            await watcher.close()
            try holder.end()
        }
    }
}
