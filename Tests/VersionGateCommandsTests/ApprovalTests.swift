import Foundation
import Postgres
import Subprocess
import TestDatabase
import TestRandom
import Testing

@Suite("Approval of lockouts", .migratedDatabase)
struct ApprovalTests {
    /// An edit that newly locks out half of the checks: those of 1.0 on iOS, not those of 2.0.
    struct Edit: Sendable, CustomTestStringConvertible {
        let name: String
        /// The policy before it, beside the app `a`.
        let setup: String
        let arguments: [String]

        /// - Parameter line: The command line, split at blanks.
        init(_ name: String, _ setup: String, _ line: String) {
            self.name = name
            self.setup = setup
            arguments = line.split(separator: " ").map(String.init)
        }

        var testDescription: String { name }
    }

    private static let release = """
        INSERT INTO releases (bundle, platform, version, live_at) VALUES ('a', 'ios', '2.0', now() - interval '1 day');
        """
    private static let staged = """
        INSERT INTO releases (bundle, platform, version, staged) VALUES ('a', 'ios', '2.0', true);
        """

    private static func rule(_ columns: String, _ values: String) -> String {
        """
        INSERT INTO rules (key, bundle, title, text, versions, lockout, enabled\(columns))
        VALUES ('lock', 'a', 'T', 'X', '<2', true, true\(values));
        """
    }

    private static let hider = """
        INSERT INTO rules (key, bundle, title, text, enabled, final, position)
        VALUES ('hider', 'a', 'T', 'X', true, true, -1);
        """

    static let edits = [
        Edit("enable", release + rule("", "") + "UPDATE rules SET enabled = false;", "rule enable lock"),
        Edit("add --enable", release, "rule add lock --bundle a --title T --text X --versions <2 --lockout --enable"),
        Edit(
            "add --enable that starts later", release,
            "rule add lock --bundle a --title T --text X --versions <2 --lockout --starts-at +3d --enable"
        ),
        Edit(
            "edit --lockout", release + rule("", "") + "UPDATE rules SET lockout = false;", "rule edit lock --lockout"
        ),
        Edit(
            "widen the versions", release + rule("", "") + "UPDATE rules SET versions = '<0.5';",
            "rule edit lock --versions <2"
        ),
        Edit("take a condition away", release + rule(", regions", ", '{JP}'"), "rule edit lock --clear region"),
        Edit(
            "lockout without an update",
            release + staged.replacing("2.0", with: "3.0") + "UPDATE releases SET live_at = NULL, staged = true;"
                + rule("", ""),
            "rule edit lock --lockout-without-update --ends-at +2h"
        ),
        Edit("rollout up", release + rule(", rollout", ", 0"), "rule rollout lock 100%"),
        Edit("ramp", release + rule(", rollout", ", 0"), "rule ramp lock 0%@now 100%@+24h"),
        Edit("disable a final rule", release + rule("", "") + hider, "rule disable hider"),
        Edit("remove a final rule", release + rule("", "") + hider, "rule remove hider"),
        Edit("make a final rule not final", release + rule("", "") + hider, "rule edit hider --no-final"),
        Edit("narrow a final rule", release + rule("", "") + hider, "rule edit hider --platform android"),
        Edit("move a final rule back", release + rule("", "") + hider, "rule edit hider --position 9"),
        Edit("undo", release + rule("", "") + "UPDATE rules SET enabled = false;", "undo 4"),
        Edit("resume the app", release + rule("", "") + "UPDATE apps SET paused = true;", "app resume a"),
        Edit("a release that is no longer staged", staged + rule("", ""), "release edit a 2.0 --no-staged"),
        Edit("a release that is a way out", staged + rule("", ""), "release add a 2.1 --platform ios"),
        Edit(
            "a release that will be a way out", staged + rule("", ""), "release add a 2.1 --platform ios --live-at +2d"
        ),
        Edit(
            "withdraw a release that hid a way out",
            release + release.replacing("'2.0'", with: "'3.0'")
                + rule("", "").replacing("'<2'", with: "'<2 || 3.0'"),
            "release withdraw a 3.0"
        ),
        Edit(
            "take a withdrawal back",
            staged.replacing("2.0", with: "3.0") + release + rule("", "")
                + "UPDATE releases SET withdrawn_at = now() WHERE version = '2.0';",
            "release edit a 2.0 --clear withdrawn-at"
        ),
    ]

    private var versiongate: BuiltBinary { BuiltBinary(.current) }

    private func prepare(_ setup: String, counts: String? = nil) async throws {
        let statements = setup.split(separator: ";").filter { $0.contains { !$0.isWhitespace } }
        try await TestDatabase.current.edit(["INSERT INTO apps (bundle) VALUES ('a')"] + statements.map(String.init))
        if let counts { try await TestDatabase.current.addCounts(counts) }
    }

    private static let counts = """
        (now(), 'a', 'ios', '1.0', 100, 0, 0), (now(), 'a', 'ios', '2.0', 100, 0, 0),
        (now(), NULL, NULL, NULL, 7, 0, 0)
        """

    @Test(
        "Consent is needed for every edit that nets a lockout, without counts and with them, or nothing is changed",
        arguments: Trials.some(edits)
    )
    func isNeeded(_ edit: Edit) async throws {
        try await prepare(edit.setup)
        let revision = try await TestDatabase.current.revision()
        let uncounted = try await versiongate.run(arguments: edit.arguments)
        #expect(uncounted.status == 1, "\(uncounted.output) \(uncounted.errors)")
        #expect(uncounted.errors.contains("no checks of a were counted"), "\(uncounted.errors)")
        #expect(uncounted.errors.contains("--yes"))
        try await TestDatabase.current.addCounts(Self.counts)
        let refused = try await versiongate.run(arguments: edit.arguments)
        #expect(refused.status == 1, "\(refused.output) \(refused.errors)")
        #expect(refused.errors.contains("newly lock out up to 50.0 %"), "\(refused.errors)")
        #expect(refused.errors.contains("--yes"))
        #expect(refused.errors.contains("nothing was changed"))
        #expect(refused.output.contains("newly locked out"), "\(refused.output)")
        #expect(try await TestDatabase.current.revision() == revision)
        let made = try await versiongate.run(arguments: edit.arguments + ["--yes"])
        #expect(made.status == 0, "\(made.errors)")
        #expect(made.output.contains("newly locked out"))
        #expect(made.output.contains("To take it back"))
        #expect(try await TestDatabase.current.revision() != revision)
    }

    @Test(
        "With consent an edit that nets a lockout is made where no checks were counted",
        arguments: Trials.isWhole ? edits : [edits[0]]
    )
    func isEnoughWithoutCounts(_ edit: Edit) async throws {
        try await prepare(edit.setup)
        #expect(try await versiongate.run(arguments: edit.arguments + ["--yes"]).status == 0)
    }

    /// Edits that need approval for their impact alone.
    static let additions = edits.filter { !$0.arguments.contains("remove") && !$0.arguments.contains("withdraw") }

    @Test(
        "Consent is not needed for up to 1 % of recent checks, whose impact is shown",
        arguments: Trials.some(additions)
    )
    func isNotNeededForFew(_ edit: Edit) async throws {
        try await prepare(
            edit.setup,
            counts: "(now(), 'a', 'ios', '1.0', 1, 0, 0), (now(), 'a', 'ios', '2.0', 99, 0, 0)"
        )
        let made = try await versiongate.run(arguments: edit.arguments)
        #expect(made.status == 0, "\(made.errors)")
        #expect(made.output.contains("newly locked out"), "\(made.output)")
        #expect(made.output.contains("1.0 %"))
        #expect(made.output.contains("nobody has verified"))
        #expect(made.output.contains("To take it back"))
    }

    /// Edits that lock nobody out newly.
    static let harmless = [
        Edit("disable a lockout", release + rule("", ""), "rule disable lock"),
        Edit("rollout down", release + rule("", ""), "rule rollout lock 10%"),
        Edit("an earlier end", release + rule("", ""), "rule edit lock --ends-at +1h"),
        Edit("other words", release + rule("", ""), "rule edit lock --title New --text New"),
        Edit("pause the app", release + rule("", ""), "app pause a"),
        Edit("a staged release", staged + rule("", ""), "release add a 2.2 --platform ios --staged"),
        Edit("a message", release, "rule add m --bundle a --title T --text X --enable"),
        Edit("a final rule", release + rule("", ""), "rule add m --title T --text X --final"),
        Edit("a lockout that is off", release, "rule add m --title T --text X --lockout"),
        Edit(
            "a lockout that is over",
            release + rule(", starts_at, ends_at", ", now() - interval '2 h', now() - interval '1 h'"),
            "rule edit lock --clear starts-at"
        ),
    ]

    @Test(
        "Consent is not needed for what locks nobody out, whether or not there are counts",
        arguments: Trials.some(harmless)
    )
    func isNotNeeded(_ edit: Edit) async throws {
        try await prepare(edit.setup)
        let made = try await versiongate.run(arguments: edit.arguments)
        #expect(made.status == 0, "\(made.errors)")
        #expect(made.output.contains("To take it back"))
    }

    /// Edits that the database warns of, and the warning, which is asked about.
    static let doubtful = [
        (
            Edit(
                "a lockout of what went live with its way out",
                """
                INSERT INTO releases (bundle, platform, version, build, live_at) VALUES
                    ('a', 'ios', '1.2', '1012', '2026-03-01Z'), ('a', 'ios', '1.2', '4012', '2026-03-01T01:00Z');
                INSERT INTO rules (key, bundle, title, text, versions, builds, lockout)
                VALUES ('lock', 'a', 'T', 'X', '1.2', '<2012', true);
                """,
                "rule enable lock"
            ),
            #"rule "lock" locks out 1.2 (1012) of a on ios, which went live less than a day before the way out of it, 1.2 (4012)"#
        ),
        (
            Edit(
                "an edit of most releases",
                """
                INSERT INTO releases (bundle, platform, version, live_at, regions) VALUES
                    ('a', 'ios', '2.0', '2026-03-01Z', '{US}'), ('a', 'ios', '2.0', '2026-03-01Z', '{JP}'),
                    ('a', 'ios', '2.0', '2026-03-01Z', '{DE}');
                """,
                "release edit a 2.0 --note x"
            ), "this edit changes 3 of the 3 releases of a"
        ),
    ]

    @Test("Consent is asked for what the database warns of as nobody may have meant it", arguments: doubtful)
    func doubts(_ edit: Edit, _ warning: String) async throws {
        try await prepare(edit.setup, counts: "(now(), 'a', 'ios', '2.0', 999, 0, 0)")
        let revision = try await TestDatabase.current.revision()
        let refused = try await versiongate.run(arguments: edit.arguments)
        #expect(refused.status == 1, "\(refused.output) \(refused.errors)")
        #expect(refused.errors.contains("\(warning); nothing was changed"), "\(refused.errors)")
        #expect(try await TestDatabase.current.revision() == revision)
        let made = try await versiongate.run(arguments: edit.arguments + ["--yes"])
        #expect(made.status == 0 && made.errors.contains("Warning: \(warning)"), "\(made.errors)")
    }

    @Test("Consent is asked for a lockout of every app when nothing was counted at all")
    func everyApp() async throws {
        let arguments = [
            "rule", "add", "maintenance", "--title", "T", "--text", "X", "--lockout", "--lockout-without-update",
            "--ends-at", "+2h", "--enable",
        ]
        let refused = try await versiongate.run(arguments: arguments)
        #expect(refused.status == 1)
        #expect(refused.errors.contains("no checks were counted in the last 7 days"), "\(refused.errors)")
        #expect(try await TestDatabase.current.revision() == 0)
        #expect(try await versiongate.run(arguments: arguments + ["--yes"]).status == 0)
    }

    @Test(
        "Consent is asked for a lockout of everybody however few it reaches, and the command says it to the database",
        arguments: [
            ("--versions 1.0 --link store", "lock locks out in every app"),
            (
                "--bundle a --versions 1.0 --lockout-without-update",
                "lock locks out also who has nothing to update to, and has no end"
            ),
        ]
    )
    func everybody(_ options: String, _ reason: String) async throws {
        try await prepare(
            Self.release,
            counts: "(now(), 'a', 'ios', '1.0', 1, 0, 0), (now(), 'a', 'ios', '2.0', 999, 0, 0)"
        )
        let command = "rule add lock --title T --text X --lockout --enable \(options)"
        let revision = try await TestDatabase.current.revision()
        let refused = try await versiongate.run(command)
        #expect(refused.status == 1)
        #expect(refused.errors.contains(reason), "\(refused.errors)")
        #expect(try await TestDatabase.current.revision() == revision)
        #expect(try await versiongate.run("\(command) --dry-run").status == 0)
        #expect(try await versiongate.run("\(command) --yes").status == 0)
        // What was so before asks nobody.
        #expect(try await versiongate.run("rule edit lock --title U").status == 0)
    }

    @Test("Consent is asked for where the counts cannot be read, which stops no lockout")
    func unreadableCounts() async throws {
        try await prepare(Self.release, counts: "(now(), 'a', 'ios', '2.0', 100, 0, 0)")
        let owner = try await TestDatabase.current.connect()
        try await owner.execute("ALTER TABLE check_counts RENAME TO moved_counts")
        let command = "rule add lock --bundle a --title T --text X --lockout --enable --versions 1.0 --link store"
        let refused = try await versiongate.run(command)
        #expect(refused.status == 1)
        #expect(refused.errors.contains("the counts of checks could not be read"), "\(refused.errors)")
        let made = try await versiongate.run("\(command) --yes")
        #expect(made.status == 0, "\(made.errors)")
        #expect(made.output.contains("Impact: not known; the counts of checks could not be read."))
    }

    @Test("Consent shows a line where only messages are concerned")
    func messages() async throws {
        try await prepare(Self.release, counts: Self.counts)
        let line = try await versiongate.run(
            arguments: [
                "rule", "add", "m", "--bundle", "a", "--title", "T", "--text", "X", "--versions", "<2", "--enable",
            ]
        )
        #expect(
            line.output.contains(
                "Impact: up to 50.0 % of 200 recent checks get a message; before this edit up to 0.0 %."
            ),
            "\(line.output)"
        )
        #expect(!line.output.contains("newly locked out"))
    }

    @Test("Consent is said by plan to be needed, and needed by apply")
    func policyFile() async throws {
        try await prepare(Self.release + Self.rule("", "") + "UPDATE rules SET enabled = false;", counts: Self.counts)
        let file = TestDatabase.freshFolder() + ".yaml"
        defer { try? FileManager.default.removeItem(atPath: file) }
        try await TestDatabase.current.edit("UPDATE rules SET enabled = true")
        let exported = try await versiongate.run("export").output
        try await TestDatabase.current.edit("UPDATE rules SET enabled = false")
        try Data(exported.utf8).write(to: URL(fileURLWithPath: file))
        let revision = try await TestDatabase.current.revision()
        let plan = try await versiongate.run("plan \(file)")
        #expect(plan.status == 2, "\(plan.errors)")
        #expect(plan.output.contains("newly locked out"), "\(plan.output)")
        #expect(plan.output.contains("Needs approval: this would newly lock out up to 50.0 %"), "\(plan.output)")
        let data = try await versiongate.run("plan \(file) --format json").output
        #expect(data.contains(#""impact":{"checks":200,"new_lockouts":100,"approval":"this would"#), "\(data)")
        let refused = try await versiongate.run("apply \(file)")
        #expect(refused.status == 1)
        #expect(refused.errors.contains("newly lock out up to 50.0 %"), "\(refused.errors)")
        #expect(try await TestDatabase.current.revision() == revision)
        #expect(try await versiongate.run("apply \(file) --yes").status == 0)
    }

    /// Runs a command on a terminal of its own with somebody who types.
    private func onTerminal(_ line: String, typing: String) async throws -> BuiltBinary.Result {
        let result = try await Subprocess.run(
            .name("script"),
            arguments: ["--quiet", "--return", "--command", "\(BuiltBinary.path) \(line)", "/dev/null"],
            environment: versiongate.subprocessEnvironment.updating(["NO_COLOR": "1", "TERM": "xterm"]),
            input: .string(typing), output: .string(limit: 1 << 20), error: .string(limit: 1 << 20)
        )
        guard case .exited(let status) = result.terminationStatus else {
            return BuiltBinary.Result(status: -1, output: result.standardOutput, errors: result.standardError)
        }
        return BuiltBinary.Result(status: Int(status), output: result.standardOutput, errors: result.standardError)
    }

    @Test("Consent is asked for on a terminal; anything but yes changes nothing")
    func asks() async throws {
        try await prepare(Self.release + Self.rule(", rollout", ", 0"), counts: Self.counts)
        let revision = try await TestDatabase.current.revision()
        for answer in ["n\n", "\n", "yesterday\n"] {
            let refused = try await onTerminal("rule rollout lock 100", typing: answer)
            #expect(refused.status == 1, "\(refused.output)")
            #expect(refused.output.contains("This would newly lock out up to 50.0 %"), "\(refused.output)")
            #expect(refused.output.contains("recent checks of a.\r\nDo it on"), "\(refused.output)")
            #expect(refused.output.contains("nothing was changed"))
            #expect(try await TestDatabase.current.revision() == revision)
        }
        let made = try await onTerminal("rule rollout lock 100", typing: "y\n")
        #expect(made.status == 0, "\(made.output)")
        #expect(made.output.contains("To take it back"))
        #expect(try await TestDatabase.current.revision() != revision)
    }

    @Test("Consent given while somebody else edits is refused, and both edits are as they were")
    func isGivenForWhatWasSeen() async throws {
        try await prepare(Self.release + Self.rule(", rollout", ", 0"), counts: Self.counts)
        let database = TestDatabase.current
        // The command waits for the answer; the answer is typed after another edit was made.
        let script = """
            coproc script --quiet --return --command "$0 rule rollout lock 100" /dev/null
            child=$COPROC_PID
            exec 4<&"${COPROC[0]}" 5>&"${COPROC[1]}"
            read -r -t 60 -d ']' seen <&4
            psql --quiet "$1" -c "UPDATE rules SET title = 'Other'" > /dev/null
            echo y >&5
            exec 5>&-
            echo "$seen"
            cat <&4
            wait "$child"
            """
        let result = try await Subprocess.run(
            .name("bash"),
            arguments: [
                "-c", script, BuiltBinary.path, database.url(user: "versiongate_admin"),
            ],
            environment: versiongate.subprocessEnvironment.updating(["NO_COLOR": "1", "TERM": "xterm"]),
            output: .string(limit: 1 << 20),
            error: .string(limit: 1 << 20)
        )
        #expect(result.terminationStatus == .exited(1), "\(result.standardOutput) \(result.standardError)")
        #expect(result.standardOutput.contains("changed by somebody else"), "\(result.standardOutput)")
        let rules = try await database.psql("SELECT title, rollout FROM rules")
        #expect(rules.output == "Other|0\n")
    }
}
