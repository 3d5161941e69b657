import Postgres
import TestDatabase
import Testing

@Suite("Rule commands", .migratedDatabase)
struct RuleCommandTests {
    private var versiongate: BuiltBinary { BuiltBinary(.current) }

    private func addExample() async throws {
        try await versiongate.run("app add com.example.doto --name Doto --store-link ios=https://example.com/ios")
        try await versiongate.run(arguments: [
            "rule", "add", "update", "--bundle", "com.example.doto", "--versions", "<1.2", "--title", "Please update",
            "--text", "{app} 1.2 is there.", "--link", "store", "--enable",
        ])
    }

    private func check(_ members: String) async throws -> String {
        try await versiongate.run("check --format json \(members)").output
    }

    @Test("The commands add an app and a rule, whose message a check gets")
    func addsAndChecks() async throws {
        try await addExample()
        let answer = try await check("bundle=com.example.doto version=1.1 platform=iOS")
        #expect(
            answer == """
                {"messages":[{"id":"update","title":"Please update","text":"Doto 1.2 is there.","link":"https://example.com/ios"}]}

                """
        )
        #expect(try await check("bundle=com.example.doto version=1.2 platform=iOS") == "{\"messages\":[]}\n")
        let people = try await versiongate.run("check bundle=com.example.doto version=1.1 platform=ios")
        #expect(people.output.contains("1. Please update  [update]"))
    }

    @Test("The commands print what changed, what ranges mean, and how to take the change back")
    func reportsEdits() async throws {
        try await addExample()
        let edit = try await versiongate.run(arguments: ["rule", "edit", "update", "--versions", "<1.1 || 1.1.x"])
        #expect(edit.status == 0)
        #expect(edit.output.contains("versions: <1.2 -> <1.1 || 1.1.x"))
        #expect(edit.output.contains("versions <1.1 || 1.1.x means:"))
        #expect(edit.output.contains("versiongate undo 3"))
        try await versiongate.run("undo 3")
        let shown = try await versiongate.run("rule show update --format json")
        #expect(shown.output.contains("\"versions\":\"<1.2\""))
        let again = try await versiongate.run(arguments: ["rule", "edit", "update", "--versions", "<1.2"])
        #expect(again.output.contains("Nothing changed"))
    }

    @Test("The commands add a rule that reaches nobody until it is enabled, and none after it is disabled")
    func enablesAndDisables() async throws {
        try await versiongate.run("app add a")
        try await versiongate.run("rule add k --bundle a --title T --text X")
        #expect(try await check("bundle=a") == "{\"messages\":[]}\n")
        try await versiongate.run("rule enable k")
        #expect(try await check("bundle=a").contains("\"id\":\"k\""))
        try await versiongate.run("rule disable k")
        #expect(try await check("bundle=a") == "{\"messages\":[]}\n")
    }

    @Test("The commands pause and resume an app")
    func pauses() async throws {
        try await addExample()
        try await versiongate.run("app pause com.example.doto")
        #expect(try await check("bundle=com.example.doto version=1.1") == "{\"messages\":[]}\n")
        try await versiongate.run("app resume com.example.doto")
        #expect(try await check("bundle=com.example.doto version=1.1").contains("update"))
    }

    @Test("The commands set the rollout, with or without a percent sign")
    func rollsOut() async throws {
        try await addExample()
        try await versiongate.run("rule rollout update 0.01%")
        #expect(try await check("bundle=com.example.doto version=1.1") == "{\"messages\":[]}\n")
        try await versiongate.run("rule rollout update 100")
        #expect(try await check("bundle=com.example.doto version=1.1").contains("update"))
    }

    @Test("The commands plan a ramp, show it over time, and keep the percentage in force when it is cleared")
    func ramps() async throws {
        try await addExample()
        #expect(try await versiongate.run("rule ramp update 5%@-1h 25%@+1h 100%@+24h").status == 0)
        let shown = try await versiongate.run("rule show update").output
        #expect(shown.contains("planned rollout"))
        #expect(shown.contains("25 %"))
        #expect(shown.contains("<- now"))
        #expect(try await check("--at +25h bundle=com.example.doto version=1.1").contains("update"))
        #expect(try await check("bundle=com.example.doto version=1.1") == "{\"messages\":[]}\n")
        let refused = try await versiongate.run("rule ramp update 50%@+1h 25%@+2h")
        #expect(refused.status == 1)
        #expect(try await versiongate.run("rule ramp update --clear").status == 0)
        #expect(try await versiongate.run("rule show update --format json").output.contains("\"rollout\":5,"))
    }

    @Test("The commands keep the share of an enabled rule until its ramp begins, and never raise it by themselves")
    func keepsTheShare() async throws {
        try await addExample()
        let connection = try await TestDatabase.current.connect()
        func shares() async throws -> [String] {
            try await connection.query(
                """
                SELECT array_agg(rollout_at('update', now() + hours * interval '1 hour')::text ORDER BY hours)
                FROM unnest('{0,0.9,1.1,2.1}'::float8[]) AS hours
                """
            ).value(as: [String].self)
        }
        try await versiongate.run("rule rollout update 5")
        #expect(try await versiongate.run("rule ramp update 25%@+1h 100%@+2h").status == 0)
        #expect(try await shares() == ["5", "5", "25", "100"])
        #expect(try await versiongate.run("rule rollout update 0").status == 0)
        #expect(try await shares() == ["0", "0", "0", "0"])
        #expect(try await versiongate.run("rule ramp update 25%@+1h 100%@+2h").status == 0)
        #expect(try await shares() == ["0", "0", "25", "100"])
        let left = try await versiongate.run("rule rollout update 7")
        #expect(left.errors.isEmpty, "\(left.errors)")
        #expect(try await shares() == ["7", "7", "7", "7"])
        #expect(try await connection.query("SELECT count(*) FROM rollout_steps").value(as: Int.self) == 0)
    }

    @Test("The commands show a rule whose target no release reaches as waiting, until one does")
    func waits() async throws {
        try await versiongate.run("app add a")
        try await versiongate.run("rule add k --bundle a --target 1.2 --title T --text X --enable")
        #expect(try await versiongate.run("rule list").output.contains("k    waiting  a    below 1.2"))
        #expect(try await versiongate.run("rule show k").output.contains("waiting: no release reaches 1.2\n"))
        let explained = try await versiongate.run("check --explain bundle=a version=1.1 platform=ios").output
        #expect(
            explained.contains("k is not sent: it asks for 1.2, no release for iOS reaches that.\n"),
            "\(explained)"
        )
        let data = try await versiongate.run("check --explain --format json bundle=a version=1.1 platform=ios").output
        #expect(data.contains(#""condition":"target","expected":">=1.2","actual":null"#), "\(data)")
        try await versiongate.run("release add a 1.2 --platform ios")
        #expect(try await versiongate.run("rule list").output.contains("k    on      a    below 1.2"))
        #expect(try await versiongate.run("rule show k").output.contains("status                  on\n"))
        try await versiongate.run("release withdraw a 1.2.0 --yes")
        #expect(try await versiongate.run("rule list").output.contains("waiting"))
        #expect(try await versiongate.run("release list").output.contains("withdrawn"))
    }

    @Test("The commands record, list, change and remove releases, all rows of a version unless a region is named")
    func recordsReleases() async throws {
        try await versiongate.run("app add a")
        try await versiongate.run(
            "release add a 1.2 --platform ios --build 42 --min-os 15 --region US --live-at 2026-03-01T12:00:00Z"
        )
        try await versiongate.run("release add a 1.2 --platform ios --build 42 --region JP --staged")
        let list = try await versiongate.run("release list --bundle A").output
        #expect(list.contains("a    ios       1.2      42     15      US       live since 2026-03-01T12:00:00Z"))
        #expect(list.contains("JP       staged"))
        try await versiongate.run("release edit a 1.2.0 --region JP --no-staged --min-os 16")
        #expect(try await versiongate.run("release list").output.contains("16      JP       live since"))
        try await versiongate.run("release edit a 1.2 --clear min-os")
        #expect(try await versiongate.run("release list --format json").output.contains("\"min_os\":null"))
        try await versiongate.run("release remove a 1.2 --region US --yes")
        #expect(!(try await versiongate.run("release list").output.contains("US")))
        try await versiongate.run("release remove a v1.2 --yes")
        #expect(try await versiongate.run("release list --format json").output == "[]\n")
    }

    @Test("The commands translate a message, change the translation and remove it")
    func translates() async throws {
        try await addExample()
        try await versiongate.run("rule translate update de --title Titel --text Text")
        #expect(try await check("bundle=com.example.doto version=1.1 language=de_AT").contains("\"title\":\"Titel\""))
        try await versiongate.run("rule translate update de --title Neu")
        #expect(
            try await check("bundle=com.example.doto version=1.1 language=de_AT").contains(
                "\"title\":\"Neu\",\"text\":\"Text\""
            )
        )
        try await versiongate.run("rule translate update iw --title Ivrit --text Text")
        let shown = try await versiongate.run("rule show update").output
        #expect(shown.contains("he  Ivrit  Text") && !shown.contains("iw"))
        try await versiongate.run("rule translate update he --title He")
        try await versiongate.run("rule translate update IW --text Iw")
        #expect(
            try await check("bundle=com.example.doto version=1.1 language=iw-IL").contains(
                "\"title\":\"He\",\"text\":\"Iw\""
            )
        )
        try await versiongate.run("rule translate update iw --remove")
        try await versiongate.run("rule translate update de --remove")
        #expect(try await check("bundle=com.example.doto version=1.1 language=de").contains("Please update"))
    }

    @Test("The commands list and show as tables and as JSON")
    func listsAndShows() async throws {
        #expect(try await versiongate.run("rule list --format json").output == "[]\n")
        try await addExample()
        #expect(try await versiongate.run("app list").output.contains("com.example.doto  Doto  active  1      ios"))
        #expect(try await versiongate.run("app list --format json").output.contains("\"bundle\":\"com.example.doto\""))
        #expect(
            try await versiongate.run("app show com.example.doto").output.contains(
                "store_links  ios  https://example.com/ios"
            )
        )
        #expect(try await versiongate.run("rule list").output.contains("update  on      com.example.doto"))
        #expect(try await versiongate.run("rule list --bundle other --format json").output == "[]\n")
        #expect(try await versiongate.run("rule show update").output.contains("<1.2 (before 1.2)"))
        let history = try await versiongate.run("history --format json").output
        #expect(history.contains("\"id\":2"))
        #expect(try await versiongate.run("history update").output.contains("Added rule update"))
    }

    @Test("The commands clear conditions, edit and remove")
    func clearsEditsAndRemoves() async throws {
        try await addExample()
        try await versiongate.run(
            "rule edit update --platform ios --region DE --attribute channel=beta --attribute channel=dev"
        )
        #expect(try await check("bundle=com.example.doto version=1.1") == "{\"messages\":[]}\n")
        #expect(
            try await check("bundle=com.example.doto version=1.1 platform=ios region=DE channel=dev").contains("update")
        )
        try await versiongate.run("rule edit update --clear platform --clear region --clear attribute")
        #expect(try await check("bundle=com.example.doto version=1.1").contains("update"))
        try await versiongate.run("app edit com.example.doto --clear name --store-link android=https://example.com/a")
        #expect(
            try await check("bundle=com.example.doto version=1.1 platform=android").contains(
                "com.example.doto 1.2 is there."
            )
        )
        try await versiongate.run("rule remove update --yes")
        #expect(try await versiongate.run("rule list --format json").output == "[]\n")
        try await versiongate.run("app remove com.example.doto --yes")
        #expect(try await versiongate.run("app list --format json").output == "[]\n")
    }

    /// A command line that must fail, and what it must say.
    struct Failure: Sendable, CustomTestStringConvertible {
        let arguments: [String]
        let status: Int
        let message: String

        init(_ line: String, status: Int, _ message: String) {
            arguments = line.split(separator: " ").map { String($0) }
            self.status = status
            self.message = message
        }

        var testDescription: String { arguments.joined(separator: " ") }
    }

    static let failures = [
        Failure("rule show nothing", status: 1, "there is no rule nothing; `versiongate rule list`"),
        Failure("rule enable nothing", status: 1, "there is no rule nothing"),
        Failure("rule rollout nothing 5", status: 1, "there is no rule nothing"),
        Failure("app pause nothing", status: 1, "there is no app nothing; `versiongate app list`"),
        Failure("app edit nothing --name x", status: 1, "there is no app nothing"),
        Failure("rule add k --title T --text X --bundle nothing", status: 1, "Hint:"),
        Failure("rule add k --title T --text X --versions 1.2-1.4", status: 1, "spaces"),
        Failure("rule add k --title T --text X --rollout 99.996", status: 1, "two decimals"),
        Failure("rule add k --title T --text X --rollout many", status: 64, "--rollout"),
        Failure("rule edit k", status: 64, "Say what to change"),
        Failure("rule edit k --note x --clear note", status: 64, "both set and cleared"),
        Failure("rule ramp k", status: 64, "--clear"),
        Failure("rule translate k de", status: 64, "--title and --text"),
        Failure("app edit a", status: 64, "Say what to change"),
        Failure("rule add k --title T --text X --starts-at tomorrow", status: 64, "--starts-at"),
        Failure("check version=1.1", status: 64, "`bundle` is missing"),
        Failure("check bundle=a bundle=b", status: 64, "`bundle` is there twice"),
        Failure("check bundle", status: 64, "member=value"),
        Failure("check --server http://127.0.0.1:1 bundle=a", status: 1, "cannot be asked"),
        Failure("undo 4711", status: 1, "4711"),
        Failure("release withdraw a 1.2", status: 1, "there is no such release"),
        Failure("nonsense", status: 64, "nonsense"),
        Failure("serve --port 99999999", status: 64, "0 to 65535"),
    ]

    @Test(
        "The commands fail with a message that names the fault and what to do", .sharedDatabase(), arguments: failures
    )
    func fails(_ failure: Failure) async throws {
        let result = try await versiongate.run(arguments: failure.arguments)
        #expect(result.status == failure.status)
        #expect(result.errors.contains(failure.message), "\(result.errors)")
    }

    @Test("A copy of a rule has all of it but the key, the app if another is given, and whether it is enabled")
    func copy() async throws {
        try await TestDatabase.current.edit(
            """
            INSERT INTO apps (bundle) VALUES ('a'), ('b');
            INSERT INTO rules (key, bundle, position, versions, builds, os, platforms, regions, languages, attributes, soak,
                rollout, starts_at, ends_at, title, text, link, lockout, final, note, target)
            VALUES ('old', 'a', 3, '<2', '<9', '>=15', '{ios}', '{JP}', '{de}', '{"channel": ["beta"]}', '2 days', 0,
                '2026-01-01Z', '2030-01-01Z', 'T', 'X', 'https://a.example', false, true, 'n', '2');
            INSERT INTO rule_texts VALUES ('old', 'de', 'D', 'E');
            INSERT INTO rollout_steps VALUES ('old', '2029-01-01Z', 50)
            """
        )
        #expect(try await versiongate.run("rule copy old new").status == 0)
        #expect(try await versiongate.run("rule copy old other --bundle b --enable").status == 0)
        func row(_ key: String) async throws -> String {
            try await TestDatabase.current.psql(
                """
                SELECT to_jsonb(r) - 'key' - 'bundle' - 'enabled',
                    (SELECT json_agg(to_jsonb(t) - 'rule') FROM rule_texts AS t WHERE t.rule = key),
                    (SELECT json_agg(to_jsonb(s) - 'rule') FROM rollout_steps AS s WHERE s.rule = key)
                FROM rules AS r WHERE key = '\(key)'
                """
            ).output
        }
        let old = try await row("old")
        #expect(old.contains("channel"))
        #expect(try await row("new") == old)
        #expect(try await row("other") == old)
        let others = "SELECT key, bundle, enabled FROM rules ORDER BY key"
        #expect(try await TestDatabase.current.psql(others).output == "new|a|f\nold|a|f\nother|b|t\n")
    }

    @Test("A release is added on several platforms in one change")
    func severalPlatforms() async throws {
        try await versiongate.run("app add a")
        let added = try await versiongate.run("release add a 1.2 --platform ios --platform android")
        #expect(added.output.contains("This is change 2."), "\(added.output)")
        let platforms = "SELECT string_agg(platform, ' ' ORDER BY platform) FROM releases"
        #expect(try await TestDatabase.current.psql(platforms).output == "android ios\n")
    }

    @Test("A check as of a time takes the policy and the clock of then, and one at a time says by which policy it is")
    func asOf() async throws {
        try await TestDatabase.current.edit(
            "INSERT INTO apps (bundle) VALUES ('a')",
            "INSERT INTO rules (key, bundle, title, text, enabled) VALUES ('k', 'a', 'T', 'X', true)",
            "UPDATE rules SET enabled = false"
        )
        _ = try await TestDatabase.current.psql("UPDATE changes SET at = at - (4 - id) * interval '1 hour'")
        let then = try await versiongate.run("check --as-of -90m bundle=a")
        #expect(
            then.output.contains("X") && then.errors.hasPrefix("By the policy at revision 2, at "),
            "\(then.errors)"
        )
        let now = try await versiongate.run("check --at -90m bundle=a")
        #expect(!now.output.contains("X"))
        #expect(now.errors.contains("Warning: today's policy answers, with the clock of "), "\(now.errors)")
        #expect(
            now.errors.contains("for the policy of then: versiongate check --as-of -90m bundle=a\n"),
            "\(now.errors)"
        )
        #expect(now.errors.contains("By the policy at revision 3, at "), "\(now.errors)")
        #expect(try await versiongate.run("export --as-of -90m").output.hasPrefix("# The policy at revision 2: "))
    }
}
