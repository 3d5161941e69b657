import Foundation
import Postgres
import TestDatabase
import Testing

@Suite("Hold commands", .migratedDatabase)
struct HoldCommandTests {
    private var versiongate: BuiltBinary { BuiltBinary(.current) }

    private func addRamp() async throws {
        try await versiongate.run("app add com.example.doto")
        try await versiongate.run(arguments: [
            "rule", "add", "update", "--bundle", "com.example.doto", "--title", "Please update", "--text", "X",
            "--enable",
        ])
        try await versiongate.run("rule ramp update 10%@-1h 50%@+1h 100%@+2h")
    }

    private func share(in hours: Double) async throws -> String {
        try await TestDatabase.current.connect().query(
            "SELECT rollout_at('update', now() + $1 * interval '1 hour')::text",
            [hours]
        ).value()
    }

    @Test("A ramp is held and let go on, each in one change that says how to take it back, and again without a change")
    func holdsAndResumes() async throws {
        try await addRamp()
        let held = try await versiongate.run(arguments: ["rule", "hold", "update", "--why", "more crashes"])
        #expect(held.status == 0, "\(held.errors)")
        #expect(held.output.contains("held_at: (none) -> "), "\(held.output)")
        #expect(held.output.contains("This is change 4. To take it back: versiongate undo 4"), "\(held.output)")
        #expect(held.output.contains("update is held at 10 % since "), "\(held.output)")
        #expect(held.output.contains("To let it go on: versiongate rule resume update"), "\(held.output)")
        #expect(try await share(in: 3) == "10")
        let again = try await versiongate.run("rule hold update")
        #expect(again.status == 0)
        #expect(again.output.contains("Nothing changed on "), "\(again.output)")
        #expect(again.output.contains("update is held at 10 % since "), "\(again.output)")

        let list = try await versiongate.run("rule list").output
        #expect(list.contains("10 %, held"), "\(list)")
        let shown = try await versiongate.run("rule show update").output
        #expect(shown.contains("on: its steps are held since "), "\(shown)")
        #expect(shown.contains("10 % now, its steps are held"), "\(shown)")
        #expect(shown.contains("50 %  held"), "\(shown)")
        let explained = try await versiongate.run("check --explain --at +3h bundle=com.example.doto install=a").output
        #expect(explained.contains("the rollout is 10 %"), "\(explained)")
        let status = try await versiongate.run("status").output
        #expect(!status.contains("goes to 50 %"), "\(status)")
        let exported = try await versiongate.run("export").output
        #expect(exported.contains("    held_at: "), "\(exported)")
        let history = try await versiongate.run("history update").output
        #expect(history.contains("more crashes"), "\(history)")

        // As if it had been held an hour and a half ago: the step after an hour would have begun.
        let owner = try await TestDatabase.current.connect()
        try await owner.execute(
            """
            BEGIN; UPDATE rules SET held_at = held_at - interval '90 minutes';
            UPDATE rollout_steps SET at = at - interval '90 minutes'; COMMIT
            """
        )
        let cleared = try await versiongate.run("rule edit update --clear held-at")
        #expect(cleared.status == 1)
        #expect(cleared.errors.contains("\"update\" would reach 50 % of installs at once"), "\(cleared.errors)")
        #expect(
            cleared.errors.contains("To go on with the step that comes next: versiongate rule resume update"),
            "\(cleared.errors)"
        )
        let tried = try await versiongate.run("rule resume update --dry-run")
        #expect(tried.output.contains("held_at: "), "\(tried.output)")
        #expect(try await share(in: 3) == "10")
        let resumed = try await versiongate.run("rule resume update --yes")
        #expect(resumed.status == 0, "\(resumed.errors)")
        #expect(resumed.output.contains("update is not held: 10 % now, 50 % at "), "\(resumed.output)")
        #expect(resumed.output.contains("versiongate undo 6"), "\(resumed.output)")
        for (hours, percent) in [(0, "10"), (0.9, "10"), (1.1, "50"), (2.1, "100")] {
            #expect(try await share(in: hours) == percent)
        }
        let twice = try await versiongate.run("rule resume update --yes")
        #expect(twice.status == 0)
        #expect(twice.output.contains("Nothing changed on "), "\(twice.output)")
        #expect(twice.output.contains("update is not held: 10 % now, 50 % at "), "\(twice.output)")
        #expect(try await versiongate.run("undo 6 --yes").status == 0)
        #expect(try await share(in: 3) == "10")
    }

    @Test(
        "A share or a ramp of its own ends the hold of a rule, and says so",
        arguments: [
            ("rule rollout update 20%", "20"), ("rule ramp update 30%@now 100%@+5h", "30"),
            ("rule ramp update --clear", "10"),
        ]
    )
    func isEnded(command: String, percent: String) async throws {
        try await addRamp()
        #expect(try await versiongate.run("rule hold update").status == 0)
        let ended = try await versiongate.run("\(command) --yes")
        #expect(ended.status == 0, "\(ended.errors)")
        #expect(ended.output.contains(#/held_at: .+ -> \(none\)/#), "\(ended.output)")
        #expect(try await share(in: 0) == percent)
    }

    @Test("A copy, and a policy file that is applied, keep a hold")
    func isKept() async throws {
        try await addRamp()
        try await versiongate.run("rule hold update")
        #expect(try await versiongate.run("rule copy update other --yes").status == 0)
        let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).yaml")
        defer { try? FileManager.default.removeItem(at: file) }
        let exported = try await versiongate.run("export").output
        try exported.write(to: file, atomically: true, encoding: .utf8)
        let holds = "SELECT array_agg(key || ' ' || held_at::text ORDER BY key) FROM rules"
        let owner = try await TestDatabase.current.connect()
        let before = try await owner.query(holds).value(as: [String].self)
        #expect(before.count == 2)
        try await owner.execute("DELETE FROM rules")
        let applied = try await versiongate.run("apply \(file.path) --yes")
        #expect(applied.status == 0, "\(applied.errors)")
        #expect(try await owner.query(holds).value(as: [String].self) == before)
        #expect(try await versiongate.run("plan \(file.path)").status == 0)
        let steps = try #require(exported.range(of: #"    steps:\n(      .*\n)+"#, options: .regularExpression))
        try exported.replacingCharacters(in: steps, with: "").write(to: file, atomically: true, encoding: .utf8)
        let refused = try await versiongate.run("apply \(file.path) --yes")
        #expect(refused.status == 1)
        #expect(refused.errors.contains("\"other\" has no steps that could be held"), "\(refused.errors)")
        #expect(refused.errors.contains("Hint: Give it steps, or take held_at out of the file."), "\(refused.errors)")
    }

    @Test(
        "A login that may only brake holds, disables, takes lockouts away and pauses by the commands, and nothing else"
    )
    func brakes() async throws {
        try await addRamp()
        try await versiongate.run("release add com.example.doto 2 --platform ios --live-at 2026-01-01T00:00:00Z")
        try await versiongate.run(arguments: [
            "rule", "add", "bad", "--bundle", "com.example.doto", "--versions", "<2", "--platform", "ios", "--title",
            "T", "--text", "X", "--link", "https://example.com", "--lockout", "--final", "--enable", "--position", "-1",
            "--yes",
        ])
        let brake = BuiltBinary(environment: ["DATABASE_URL": TestDatabase.current.url(user: "versiongate_brake")])
        let refused = try await brake.run("rule disable bad")
        #expect(refused.status == 1)
        #expect(refused.errors.contains("\"bad\" is final, so what comes after it would be sent"), "\(refused.errors)")
        #expect(refused.errors.contains("After it: update."), "\(refused.errors)")
        #expect(
            refused.errors.contains("Hint: Turn its lockout into a message, pause the app, or let an admin do this.")
        )
        for command in [
            "rule enable bad", "rule resume update", "rule edit bad --lockout", "rule rollout update 5",
            "rule edit bad --no-lockout --note x", "rule remove bad --yes", "app resume com.example.doto",
            "undo 1 --yes",
            "app remove com.example.doto --yes",
        ] {
            let denied = try await brake.run(command)
            #expect(denied.status == 1, "\(command)")
            #expect(denied.errors.contains("permission denied for"), "\(command): \(denied.errors)")
        }
        let tried = try await brake.run("rule edit bad --no-lockout --dry-run")
        #expect(tried.output.contains("lockout: true -> false"), "\(tried.errors)")
        let revision = try await TestDatabase.current.revision()
        for (command, change) in [
            ("rule hold update", "held_at: (none) -> "), ("rule edit bad --no-lockout", "lockout: true -> false"),
            ("rule disable update", "enabled: true -> false"), ("rule disable bad", "enabled: true -> false"),
            ("app pause --all", "paused: false -> true"),
        ] {
            let made = try await brake.run(
                arguments: command.split(separator: " ").map(String.init) + ["--why", "night"]
            )
            #expect(made.status == 0, "\(command): \(made.errors)")
            #expect(made.output.contains(change), "\(command): \(made.output)")
        }
        #expect(try await brake.run("app pause com.example.doto").output.contains("Nothing changed on "))
        let changes = try await TestDatabase.current.connect().query(
            "SELECT concat_ws(' ', role, tool, why), count(*) FROM changes WHERE id > $1 GROUP BY 1",
            [revision]
        )
        #expect(try changes.map { try $0.decode(0, as: String.self) } == ["versiongate_brake brake night"])
        #expect(try changes.first?.decode(1, as: Int.self) == 5)
        for command in ["status", "rule list", "history", "check bundle=com.example.doto", "export"] {
            let read = try await brake.run(command)
            #expect(read.status == 0, "\(command): \(read.errors)")
        }
    }
}
