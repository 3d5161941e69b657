import Foundation
import Postgres
import TestDatabase
import Testing

/// What somebody did at night, and the file of the next morning.
@Suite("Policy file over brakes", .migratedDatabase)
struct PolicyFileBrakeTests {
    private static let setup = [
        """
        INSERT INTO apps (bundle) VALUES ('a'), ('B');
        INSERT INTO releases (bundle, platform, version, live_at)
        SELECT bundle, 'ios', '2', now() - interval '2 days' FROM apps
        """,
        """
        INSERT INTO rules (key, bundle, versions, lockout, enabled, fuse, title, text)
        VALUES ('off', 'a', '<1', true, true, NULL, 'T', 'X'), ('message', 'a', '<1', true, true, NULL, 'T', 'X'),
            ('fused', 'a', '<1', true, true, 5, 'T', 'X'), ('ramp', 'a', '<1', false, true, NULL, 'T', 'X'),
            ('plain', 'a', '<1', false, true, NULL, 'T', 'X');
        INSERT INTO rollout_steps VALUES ('ramp', now() - interval '1 hour', 10), ('ramp', now() + interval '9 hours', 50)
        """,
    ]

    /// Each as the change that it becomes, from 3 on.
    private static let brakes = [
        "SELECT brake_rule('off', 'disable', 'incident')", "SELECT brake_rule('message', 'lockout', 'incident')",
    ]
    private static let others = [
        "UPDATE apps SET paused = true WHERE bundle = 'B'", "SELECT hold_rule('ramp')", "SELECT blow_fuses()",
        "UPDATE rules SET title = 'U' WHERE key = 'plain'",
    ]

    private func edit(_ connection: PostgresConnection, _ statements: [String]) async throws {
        for statement in statements { try await connection.execute(statement) }
    }

    @Test("A file from before the night takes back what was done then only over brakes, and each change is named")
    func takesBackOverBrakesAlone() async throws {
        let owner = try await TestDatabase.current.connect()
        try await edit(owner, Self.setup)
        try await PolicyFileFixture.with { fixture in
            let versiongate = BuiltBinary(.current)
            let file = fixture.folder.appending(path: "policy.yaml").path
            #expect(try await versiongate.run("export --output \(file)").status == 0)
            try await owner.execute(
                "INSERT INTO lockout_counts VALUES ('fused', 'a', date_trunc('minute', now()), 1000, 900, 2)"
            )
            try await edit(try await TestDatabase.current.connect(user: "versiongate_brake"), Self.brakes)
            try await edit(owner, Self.others)
            let night = try String(contentsOfFile: file, encoding: .utf8)

            let plan = try await versiongate.run("plan \(file)")
            for (change, part) in [
                (3, "rules off: enabled"), (4, "rules message: lockout"), (5, "apps B: paused"),
                (6, "rules ramp: held_at"), (7, "rules fused: lockout"), (8, "rules plain: title"),
            ] {
                let line = plan.output.split(separator: "\n").first { $0.hasPrefix("  change \(change) by ") }
                #expect(line?.hasSuffix(": \(part)") == true, "\(change): \(plan.output)")
            }
            #expect(plan.output.contains("apply \(file) --over-brakes --revision 8"), "\(plan.output)")
            let json = try await versiongate.run("plan \(file) --format json").output
            #expect(json.contains("\"takes_back\"") && json.contains("\"is_brake\":true"), "\(json)")
            #expect(try await versiongate.run("plan \(file) --format markdown").output.contains("**Takes back**"))

            let refused = try await versiongate.run("apply \(file) --yes")
            #expect(refused.status == 1 && refused.errors.contains("repeat it with --over-brakes"), "\(refused.errors)")
            for change in 3...7 { #expect(refused.errors.contains("  change \(change) by "), "\(refused.errors)") }
            #expect(!refused.errors.contains("change 8"), "a title is no brake")
            #expect(try await TestDatabase.current.revision() == 8)

            // One that does not say which revision it knows, or whose revision was that of another database, knows none.
            for other in [
                night.split(separator: "\n").dropFirst(3).joined(separator: "\n") + "\n",
                night.replacing(#/revision 2: (.*); [0-9a-f]{8}\./#) { "revision 8: \($0.output.1); 00000000." },
            ] {
                let old = try fixture.write(other, to: "old.yaml")
                #expect(try await versiongate.run("apply \(old) --yes").errors.contains("change 7 by "))
            }

            // One that was exported since then, knows of it.
            let morning = fixture.folder.appending(path: "morning.yaml").path
            #expect(try await versiongate.run("export --output \(morning)").status == 0)
            let exported = try String(contentsOfFile: morning, encoding: .utf8)
            let edited = exported.replacing("paused: true\n", with: "paused: false\n")
            #expect(edited != exported)
            let known = try await versiongate.run("apply \(try fixture.write(edited, to: "morning.yaml")) --yes")
            #expect(known.status == 0 && !known.errors.contains("Takes back"), "\(known.errors)")

            let over = try await versiongate.run("apply \(file) --yes --over-brakes")
            #expect(over.status == 0 && over.errors.contains("Takes back:\n"), "\(over.errors)")
            let locks = "SELECT string_agg(key, ',' ORDER BY key) FROM rules WHERE lockout AND enabled"
            #expect(try await owner.query(locks).value(as: String.self) == "fused,message,off")
        }
    }

    @Test("A file with new values takes nothing back, and one that takes back an edit names it and does it")
    func namesEdits() async throws {
        let owner = try await TestDatabase.current.connect()
        try await edit(owner, Self.setup)
        try await PolicyFileFixture.with { fixture in
            let versiongate = BuiltBinary(.current)
            let file = fixture.folder.appending(path: "policy.yaml").path
            #expect(try await versiongate.run("export --output \(file)").status == 0)
            let text = try String(contentsOfFile: file, encoding: .utf8)
            try await edit(
                owner,
                [
                    "UPDATE rules SET title = 'U' WHERE key = 'plain'",
                    "UPDATE rules SET title = 'V' WHERE key = 'plain'",
                    "DELETE FROM rules WHERE key = 'message'",
                    "INSERT INTO rules (key, title, text) VALUES ('new', 'T', 'X')",
                ]
            )
            let applied = try await versiongate.run("apply \(file) --yes")
            #expect(applied.status == 0, "\(applied.errors)")
            let parts = [(3, "plain: title"), (4, "plain: title"), (5, "rules message"), (6, "rules new")]
            for (change, part) in parts {
                let line = applied.errors.split(separator: "\n").first { $0.hasPrefix("  change \(change) by ") }
                #expect(line?.hasSuffix(part) == true, "\(change): \(applied.errors)")
            }
            let renamed = try fixture.write(text.replacing("title: T", with: "title: W"))
            let other = try await versiongate.run("apply \(renamed) --yes")
            #expect(other.status == 0 && !other.errors.contains("Takes back"), "\(other.errors)")
        }
    }
}
