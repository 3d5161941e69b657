import Foundation
import Postgres
import TestDatabase
import Testing

@Suite("Undo", .migratedDatabase)
struct UndoCommandTests {
    private var versiongate: BuiltBinary { BuiltBinary(.current) }

    private func titles() async throws -> String {
        try await TestDatabase.current.psql("SELECT string_agg(title, ' ' ORDER BY key) FROM rules").output
    }

    @Test("An undo without a number takes back the newest change, and again the one before, past all undos")
    func newestChange() async throws {
        for title in ["one", "two", "three"] {
            try await versiongate.run(
                title == "one"
                    ? "rule add k --title one --text X --why first" : "rule edit k --title \(title)"
            )
        }
        // The same login in psql, which records no user of the operating system.
        _ = try await TestDatabase.current.psql("UPDATE rules SET title = 'four'", user: "versiongate_admin")
        let first = try await versiongate.run("undo --yes")
        #expect(first.status == 0, "\(first.errors)")
        #expect(first.output.hasPrefix("The newest change: 4  "), "\(first.output)")
        #expect(first.output.contains("changed rule k: title\n"), "\(first.output)")
        #expect(try await titles() == "three\n")
        #expect(try await versiongate.run("undo --yes").output.hasPrefix("The newest change: 3  "))
        #expect(try await titles() == "two\n")
        // What was undone and then brought back stands again.
        #expect(try await versiongate.run("undo 6 --yes").status == 0)
        #expect(try await titles() == "three\n")
        for id in [3, 2, 1] {
            #expect(try await versiongate.run("undo --yes").output.hasPrefix("The newest change: \(id)  "))
        }
        let none = try await versiongate.run("undo --yes")
        #expect(none.status == 1)
        #expect(
            none.errors.contains("there is no change among the newest 1,000 that is not undone; "),
            "\(none.errors)"
        )
        #expect(none.errors.contains("`versiongate undo CHANGE` undoes any of them"))
    }

    @Test(
        "An undo without a number takes without a question only what is one's own and of the last hour, else it names it"
    )
    func isOwnAndNew() async throws {
        try await versiongate.run("rule add k --title one --text X")
        let unasked = try await versiongate.run("undo")
        #expect(unasked.status == 1)
        #expect(
            unasked.errors.contains(
                "the newest change is 1, and there is no terminal on which to ask; nothing was changed; if it is meant: "
                    + "versiongate undo 1\n"
            ),
            "\(unasked.errors)"
        )
        // The login counts: what a program said of a user of some machine is no proof of anything.
        let script = "SET versiongate.os_user = 'anna'; UPDATE rules SET title = 'two'"
        let sameLogin = try await TestDatabase.current.psql(script, user: "versiongate_admin")
        #expect(sameLogin.isSuccess, "\(sameLogin.errors)")
        let own = try await versiongate.run("undo --yes")
        #expect(own.status == 0, "\(own.errors)")
        #expect(own.output.hasPrefix("The newest change: 2  "), "\(own.output)")
        let otherLogin = try await TestDatabase.current.psql("UPDATE rules SET title = 'three'")
        #expect(otherLogin.isSuccess, "\(otherLogin.errors)")
        let refused = try await versiongate.run("undo --yes")
        #expect(refused.status == 1)
        #expect(
            refused.errors.contains("it is not yours; nothing was changed; if it is meant: versiongate undo "),
            "\(refused.errors)"
        )
        #expect(try await versiongate.run("rule edit k --title mine").status == 0)
        _ = try await TestDatabase.current.psql(
            "UPDATE changes SET at = at - interval '61 minutes' WHERE id = (SELECT max(id) FROM changes)"
        )
        let old = try await versiongate.run("undo --yes")
        #expect(old.errors.contains("the newest change is 5, and it is more than an hour old; "), "\(old.errors)")
        #expect(try await titles() == "mine\n")
    }

    @Test("An undo of a change asks for all that it removes, and without a number for the change as well")
    func asks() async throws {
        try await versiongate.run("rule add k --title one --text X")
        let unasked = try await versiongate.run("undo 1")
        #expect(unasked.status == 1)
        #expect(unasked.errors.contains("this removes rule k"), "\(unasked.errors)")
        let terminal = try await TerminalSession(versiongate)
        defer { terminal.end() }
        try terminal.type("versiongate undo\n")
        let shown = try await terminal.expect("? [y/N] ")
        #expect(shown.contains("The newest change: 1  ") && shown.contains("added rule k\n"), "\(shown)")
        #expect(shown.contains("This undoes change 1."), "\(shown)")
        try terminal.type("\n")
        try await terminal.expect("nothing was changed, as the answer was not y")
        try await terminal.expect(TerminalSession.prompt)
        #expect(try await TestDatabase.current.revision() == 1)
        let approved = try await terminal.run("versiongate undo --yes")
        #expect(approved.status == 0, "\(approved.output)")
        #expect(approved.output.contains("Removed rule k\n"))
    }

    /// Command lines that are refused, and what is said.
    static let mistakes: [(line: String, status: Int, message: String)] = [
        ("undo 999", 1, "there is no change 999\nHint: The changes: versiongate history"),
        ("undo 0", 64, "There is no change 0; `versiongate history` lists the changes."),
        ("undo 2 --to 1", 64, "Give either a change or --to: versiongate undo 2"),
        ("undo --to 999", 1, "there is no revision 999"),
        ("undo --to 999", 1, "is at 1 now"),
        ("undo --to -1", 64, "--to <revision|time>"),
        ("export --revision 999", 1, "there is no revision 999"),
        ("export --revision=-1", 64, "There is no revision -1; revisions are counted from 0 on."),
    ]

    @Test(
        "An undo of what there is not is refused in words of the command line",
        .sharedDatabase("INSERT INTO apps (bundle) VALUES ('a')"), arguments: mistakes
    )
    func isRefused(_ line: String, _ status: Int, _ message: String) async throws {
        let result = try await versiongate.run(line)
        #expect(result.status == status)
        #expect(result.errors.contains(message), "\(result.errors)")
        #expect(!result.errors.contains("SELECT"), "\(result.errors)")
    }

    /// A policy whose changes touch every table.
    private func change() async throws {
        try await TestDatabase.current.edit(
            """
            INSERT INTO apps (bundle, name) VALUES ('a', 'A'), ('b', 'B');
            INSERT INTO store_links VALUES ('a', 'ios', 'https://example.com');
            INSERT INTO releases (bundle, platform, version, build, regions, live_at, note)
            VALUES ('a', 'ios', '2', '7', '{JP}', '2026-01-01Z', 'n'), ('a', 'ios', '2', '7', NULL, '2026-01-02Z', NULL)
            """,
            """
            INSERT INTO rules (key, bundle, title, text, versions, lockout, enabled, attributes, soak, note)
            VALUES ('lock', 'a', 't', 'x', '<2', true, true, '{"channel": ["beta"]}', '2 days', 'n');
            INSERT INTO rule_texts VALUES ('lock', 'de', 'T', 'X');
            INSERT INTO rollout_steps VALUES ('lock', '2030-01-01Z', 100)
            """,
            "DELETE FROM apps WHERE bundle = 'b'; UPDATE releases SET withdrawn_at = '2026-02-01Z', build = '8'",
            "DELETE FROM rollout_steps; UPDATE rules SET rollout = 5, soak = NULL, enabled = false, title = 'u'",
            "DELETE FROM apps"
        )
    }

    @Test("An undo to a revision brings back the whole policy in one change, which can be undone")
    func toRevision() async throws {
        try await change()
        func exported(_ options: String = "") async throws -> [Substring] {
            try await versiongate.run("export \(options)").output.split(separator: "\n").dropFirst().map { $0 }
        }
        for revision in [2, 4, 1, 5, 0, 2] {
            let wanted = try await exported("--revision \(revision)")
            let before = try await exported()
            let back = try await versiongate.run("undo --to \(revision) --yes")
            #expect(back.status == 0, "\(revision): \(back.errors)")
            #expect(back.output.hasPrefix("Back to revision \(revision)"), "\(back.output)")
            #expect(try await exported() == wanted, "\(revision)")
            guard wanted != before else { continue }
            let newest = try await TestDatabase.current.revision()
            let why = try await TestDatabase.current.psql("SELECT why FROM changes WHERE id = \(newest)").output
            #expect(why == "back to revision \(revision)\n")
            #expect(try await versiongate.run("undo \(newest) --yes").status == 0)
            #expect(try await exported() == before)
        }
    }

    @Test("An undo to a time means the revision of that time, and asks about removals and lockouts as apply does")
    func toTime() async throws {
        try await change()
        let now = try await versiongate.run("undo --to now")
        #expect(now.status == 0, "\(now.errors)")
        #expect(now.output.contains("Back to revision 5 of "), "\(now.output)")
        #expect(now.output.contains("the policy was like that already"))
        let empty = try await versiongate.run("undo --to -3650d")
        #expect(empty.status == 0)
        #expect(empty.output.hasPrefix("Back to revision 0, an empty policy.\n"), "\(empty.output)")
        let lockout = try await versiongate.run("undo --to 2")
        #expect(lockout.status == 1)
        #expect(
            lockout.errors.contains("this may lock somebody out, and no checks of a were counted"),
            "\(lockout.errors)"
        )
        #expect(try await versiongate.run("undo --to 2 --yes").status == 0)
        let removal = try await versiongate.run("undo --to 1")
        #expect(removal.status == 1)
        #expect(removal.output.contains("  rule lock (enabled lockout, app a)\n"), "\(removal.output)")
        #expect(removal.errors.contains("this removes "), "\(removal.errors)")
    }

    @Test("An undo to a state that the database refuses now says why, and how to fix that state")
    func toRefusedState() async throws {
        try await change()
        // At revision 3 the lockout had lost its release.
        let result = try await versiongate.run("undo --to 3 --yes")
        #expect(result.status == 1)
        #expect(
            result.errors.contains("\"lock\" would lock out clients that have nothing to update to"),
            "\(result.errors)"
        )
        #expect(
            result.errors.hasSuffix(
                """
                Nothing was changed. To fix that policy and apply it: versiongate export --revision 3 --output policy.yaml; \
                versiongate plan policy.yaml

                """
            ),
            "\(result.errors)"
        )
        #expect(try await TestDatabase.current.revision() == 5)
    }
}
