import Foundation
import Subprocess
import TestDatabase
import Testing

@Suite("Impact command", .migratedDatabase)
struct ImpactCommandTests {
    private var versiongate: BuiltBinary { BuiltBinary(.current) }

    private func prepare() async throws {
        try await TestDatabase.current.edit(
            """
            INSERT INTO apps (bundle) VALUES ('com.example.Doto'), ('b');
            INSERT INTO releases (bundle, platform, version, live_at)
            VALUES ('com.example.Doto', 'ios', '2.0', now() - interval '1 day');
            INSERT INTO rules (key, bundle, title, text, versions, lockout, rollout)
            VALUES ('lock', 'com.example.Doto', 'T', 'X', '<2', true, 100);
            INSERT INTO rollout_steps (rule, at, rollout)
            VALUES ('lock', now() - interval '1 hour', 10), ('lock', now() + interval '1 hour', 50);
            """
        )
        try await TestDatabase.current.addCounts(
            """
            (now(), 'com.example.Doto', 'ios', '1.0', 400, 0, 0), (now() - interval '2 days', 'com.example.Doto', 'ios', '1.0', 200, 0, 0),
            (now(), 'com.example.Doto', 'android', '1.0', 100, 0, 0), (now(), 'com.example.Doto', 'ios', '2.0', 300, 0, 0),
            (now(), 'b', 'ios', '1.0', 5000, 0, 0), (now(), NULL, NULL, NULL, 50, 0, 0),
            (now() - interval '20 days', 'com.example.Doto', 'ios', '0.9', 1000, 0, 0)
            """
        )
    }

    @Test("The impact of a rule says when checks came from too many kinds of clients to count separately")
    func merged() async throws {
        try await prepare()
        let added = try await TestDatabase.current.psql(
            """
            INSERT INTO merged_counts VALUES
                (now(), 'com.example.Doto', 1234), (now(), 'b', 9), (now() - interval '20 days', 'com.example.Doto', 1)
            """,
            user: "versiongate_server"
        )
        #expect(added.isSuccess, "\(added.errors)")
        for command in ["impact lock", "stats com.example.Doto"] {
            let output = try await versiongate.run(command).output
            #expect(
                output.contains("Warning: 1,234 checks of com.example.Doto came from too many kinds of clients"),
                "\(output)"
            )
            #expect(!output.contains("checks of b were"))
            let json = try await versiongate.run("\(command) --format json").output
            #expect(json.contains("\"merged\":1234") || json.contains("\"merged\": 1234"), "\(json)")
        }
        // A lockout that the counts say little of needs approval, however few it reaches among the others.
        try await TestDatabase.current.edit("UPDATE rules SET versions = '<0.5'")
        let edit = "rule enable lock"
        let refused = try await versiongate.run(edit)
        #expect(refused.status != 0)
        #expect(
            refused.errors.contains(
                "of the checks of com.example.Doto in the last 7 days came from too many kinds of clients"
            ),
            "\(refused.errors)"
        )
        #expect(try await versiongate.run("\(edit) --yes").status == 0)
    }

    @Test(
        "The impact of a rule is a table of stages and one of versions and platforms, with bars and what the figures cannot say"
    )
    func table() async throws {
        try await prepare()
        let result = try await versiongate.run("impact lock")
        #expect(result.status == 0, "\(result.errors)")
        let output = result.output
        #expect(output.contains("lock: 1,000 checks of com.example.Doto in the last 7 days"), "\(output)")
        func line(_ start: String) -> String {
            output.split(separator: "\n").first { $0.hasPrefix(start) }.map(String.init) ?? ""
        }
        #expect(line("now (0 %)").contains(" 0.0 %    0.0 % "), "\(output)")
        #expect(line("if enabled (10 %)").contains(" 6.0 %    1.0 % "), "\(output)")
        #expect(line("from ").contains(" (50 %)  30.0 %   5.0 % "), "\(output)")
        #expect(line("at 100 %").contains(" 60.0 %   10.0 % "), "\(output)")
        #expect(line("at 100 %").contains("!!!"), "\(output)")
        #expect(line("2.0").contains("ios       30.0 %"), "\(output)")
        #expect(line("1.0      android").contains("10.0 %"), "\(output)")
        #expect(output.contains("nobody has verified it"))
        #expect(output.contains("reached only at 100 %"))
        #expect(output.contains("Not included: 50 more checks (4.8 % of all)"), "\(output)")
        #expect(!output.contains("Warning"))
        #expect(!output.contains("\u{1B}"))
        #expect(
            output.split(separator: "\n").filter { $0.contains(".....") }.allSatisfy { $0.count <= 80 },
            "\(output)"
        )
    }

    @Test("The impact of a rule fits the width that is there, and has colours on a terminal without NO_COLOR alone")
    func terminal() async throws {
        try await prepare()
        func onTerminal(_ variables: [Environment.Key: String?], width: Int = 80) async throws -> String {
            try await Subprocess.run(
                .name("script"),
                arguments: [
                    "--quiet", "--return", "--command", "stty cols \(width); \(BuiltBinary.path) impact lock",
                    "/dev/null",
                ],
                environment: versiongate.subprocessEnvironment.updating(variables),
                output: .string(limit: 1 << 20),
                error: .discarded
            ).standardOutput
        }
        #expect(try await onTerminal(["NO_COLOR": nil, "TERM": "xterm"]).contains("\u{1B}[31m"))
        for width in [70, 100, 140] {
            // A slow machine shows, and erases, that it reads the database.
            let plain = try await onTerminal(["NO_COLOR": "1", "TERM": "xterm"], width: width)
                .replacing("\u{1B}[K", with: "")
            #expect(!plain.contains("\u{1B}"))
            let charts = plain.split(whereSeparator: \.isNewline).filter {
                $0.hasPrefix("at 100 %") || $0.hasPrefix("1.0")
            }
            #expect(charts.allSatisfy { $0.count <= width })
            #expect(charts.contains { $0.count > width - 45 })
        }
    }

    private struct Document: Decodable {
        struct Stage: Decodable {
            let stage: String
            let at: String?
            let rollout: Double
            let reached: Double
            let reached_share: Double
            let locked_out: Double
            let locked_out_share: Double
            let without_way_out: Double
            let without_way_out_share: Double
        }
        struct Row: Decodable {
            let bundle: String
            let platform: String?
            let version: String?
            let checks: Int
            let stages: [Stage]
        }
        struct PreRelease: Decodable {
            let version: String
            let release: String
            let checks: Int
        }
        let rule: String
        let bundle: String?
        let enabled: Bool
        let days: Int
        let checks: Int
        let not_known: Int
        let uncounted: [String]
        let stages: [Stage]
        let rows: [Row]
        let pre_releases: [PreRelease]
    }

    @Test("The impact of a rule is JSON for programs, for as many days as asked for")
    func json() async throws {
        try await prepare()
        let result = try await versiongate.run("impact lock --format json --days 30")
        let document = try JSONDecoder().decode(Document.self, from: Data(result.output.utf8))
        #expect(document.rule == "lock")
        #expect(document.bundle == "com.example.Doto")
        #expect(!document.enabled)
        #expect(document.days == 30)
        #expect(document.checks == 2_000)
        #expect(document.not_known == 50)
        #expect(document.uncounted == ["rollout"])
        #expect(document.stages.map(\.stage) == ["now", "enabled", "step", "everybody"])
        #expect(document.stages.map(\.rollout) == [0, 10, 50, 100])
        #expect(document.stages.map(\.reached) == [0, 170, 850, 1_700])
        #expect(document.stages.map(\.locked_out) == [0, 160, 800, 1_600])
        #expect(document.stages.map(\.without_way_out) == [0, 10, 50, 100])
        #expect(document.stages.last?.locked_out_share == 0.8)
        #expect(document.stages.last?.at == nil)
        #expect(document.rows.map(\.checks) == [100, 300, 600, 1_000])
        #expect(document.rows.map(\.version) == ["1.0", "2.0", "1.0", "0.9"])
        #expect(document.pre_releases.isEmpty)
    }

    @Test("The impact of a rule says at most, and warns of pre-releases with the numbers of a release")
    func caveats() async throws {
        try await prepare()
        try await TestDatabase.current.edit(
            """
            UPDATE rules SET enabled = true, languages = '{de}', attributes = '{"channel":["beta"]}';
            INSERT INTO rules (key, title, text, versions) VALUES ('every', 'T', 'X', '<1.2');
            """
        )
        try await TestDatabase.current.addCounts("(now(), 'com.example.Doto', 'ios', '2.0.0-prod', 10, 0, 0)")
        let output = try await versiongate.run("impact lock").output
        #expect(
            output.contains(
                "The figures say how many at most, because attributes and languages of clients are not counted."
            )
        )
        #expect(
            output.contains("Warning: 10 checks of version 2.0.0-prod, a pre-release: it sorts below 2.0, so <2.0"),
            "\(output)"
        )
        #expect(!output.contains("if enabled"))
        let every = try await versiongate.run("impact every").output
        #expect(every.contains("every: 6,010 checks of every app"), "\(every)")
        #expect(every.contains("APP"))
        #expect(!every.contains("LOCKED OUT"))
    }

    @Test("The impact of a rule is judged by the whole policy: nobody behind a final rule or in a paused app")
    func wholePolicy() async throws {
        try await prepare()
        try await TestDatabase.current.edit("UPDATE apps SET paused = true")
        let paused = try await versiongate.run("impact lock").output
        #expect(paused.contains("The app is paused, so no rule reaches it."))
        let last = paused.split(separator: "\n").first { $0.hasPrefix("at 100 %") }
        #expect(last?.contains(" 0.0 %    0.0 % ") == true, "\(paused)")
        try await TestDatabase.current.edit(
            """
            UPDATE apps SET paused = false;
            INSERT INTO rules (key, title, text, final, enabled, position) VALUES ('first', 'T', 'X', true, true, -1);
            """
        )
        let hidden = try await versiongate.run("impact lock").output
        #expect(hidden.contains("it reaches about 0.0 % now, 0.0 % with the lockout; 0.0 % at 100 %"), "\(hidden)")
    }

    @Test("The impact of a rule fails with a message that names the fault and what to do")
    func fails() async throws {
        let nothing = try await versiongate.run("impact lock")
        #expect(nothing.status == 1)
        #expect(nothing.errors.contains("there is no rule lock; `versiongate rule list`"), "\(nothing.errors)")
        try await TestDatabase.current.edit("INSERT INTO rules (key, title, text) VALUES ('lock', 'T', 'X')")
        let near = try await versiongate.run("impact loc")
        #expect(near.errors.contains("there is no rule loc; did you mean lock?"), "\(near.errors)")
        let noCounts = try await versiongate.run("impact lock")
        #expect(noCounts.status == 1)
        #expect(noCounts.errors.contains("no checks were counted in the last 7 days"), "\(noCounts.errors)")
        for days in ["0", "-1", "x", "100000"] {
            let wrong = try await versiongate.run("impact lock --days=\(days)")
            #expect(wrong.status == 64)
            #expect(wrong.errors.contains("--days"), "\(wrong.errors)")
        }
    }
}
