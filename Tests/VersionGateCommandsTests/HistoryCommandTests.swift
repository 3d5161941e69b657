import Foundation
import Postgres
import TestDatabase
import Testing

@Suite("History commands", .migratedDatabase)
struct HistoryCommandTests {
    private var versiongate: BuiltBinary { BuiltBinary(.current) }

    /// An entry as programs read it.
    private struct Entry: Decodable {
        let id: Int
        let role: String
        let osUser: String?
        let tool: String?
        let why: String?
        let undoes: Int?
        let rows: [Row]

        struct Row: Decodable {
            let table: String
        }
    }

    private func entries(_ arguments: String...) async throws -> [Entry] {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let output = try await versiongate.run(arguments: ["history", "--format", "json"] + arguments).output
        return try decoder.decode([Entry].self, from: Data(output.utf8))
    }

    private func addExample() async throws {
        try await versiongate.run("app add a --why first")
        try await versiongate.run("rule add k --bundle a --title T --text X")
        try await versiongate.run("rule add other --bundle a --title T --text X")
        try await versiongate.run("rule translate k de --title Titel --text Text")
        try await versiongate.run("rule ramp k 5%@now --yes")
        try await versiongate.run("rule edit k --note a --why second")
    }

    @Test("The commands list all changes or those of a rule, newest first, with who, with what and why")
    func lists() async throws {
        try await addExample()
        let all = try await entries()
        #expect(all.map(\.id) == [6, 5, 4, 3, 2, 1])
        #expect(all.map(\.why) == ["second", nil, nil, nil, nil, "first"])
        #expect(all.allSatisfy { $0.role == "versiongate_admin" && $0.tool == "versiongate" && $0.osUser != nil })
        #expect(try await entries("k").map(\.id) == [6, 5, 4, 2])
        #expect(try await entries("k", "--limit", "2").map(\.id) == [6, 5])
        #expect(try await entries("nothing").isEmpty)

        try await versiongate.run("rule remove k --yes")
        let removal = try await entries("k")
        #expect(removal.map(\.id) == [7, 6, 5, 4, 2])
        #expect(removal[0].rows.map(\.table).sorted() == ["rollout_steps", "rule_texts", "rules"])
        let text = try await versiongate.run("history k --limit 1").output
        #expect(text.contains("Removed rule k\n"))
        #expect(text.contains("Removed text k de\n"))
    }

    @Test("The commands undo with a reason, and say which later change stands in the way")
    func undo() async throws {
        try await addExample()
        try await versiongate.run("rule edit k --note b")
        let refused = try await versiongate.run("undo 6")
        #expect(refused.status == 1)
        #expect(refused.errors.contains("note set by change 7"), "\(refused.errors)")
        #expect(
            refused.errors.contains(
                "Hint: Undo the later changes first, the newest of them first. Or bring back the whole "
            )
        )
        #expect(refused.errors.hasSuffix(": versiongate undo --to 5\n"), "\(refused.errors)")
        let undone = try await versiongate.run(arguments: ["undo", "7", "--why", "a mistake"])
        #expect(undone.output.contains("note: b -> a"))
        #expect(undone.output.contains("versiongate undo 8"))
        let entry = try #require(try await entries("--limit", "1").first)
        #expect(entry.undoes == 7)
        #expect(entry.why == "a mistake")
        #expect(try await versiongate.run("history --limit 1").output.contains("undoes 7  a mistake"))
    }

    @Test(
        "The commands bring an app with two hundred rules back by one command, though a lockout has lost its release since"
    )
    func undoOfABigMistake() async throws {
        let admin = try await TestDatabase.current.connect(user: "versiongate_admin")
        try await admin.execute(
            """
            INSERT INTO apps (bundle, name) VALUES ('a', 'A');
            INSERT INTO releases (bundle, platform, version) VALUES ('a', 'ios', '2'), ('a', 'ios', '1');
            INSERT INTO rules (key, bundle, title, text, enabled) SELECT 'r' || i, 'a', 't', 'x', i % 2 = 0
            FROM generate_series(1, 199) AS i;
            INSERT INTO rules (key, bundle, title, text, versions, lockout, enabled)
            VALUES ('lock', 'a', 't', 'x', '<2', true, true);
            INSERT INTO rule_texts SELECT key, 'de', 'T', 'X' FROM rules;
            INSERT INTO rollout_steps SELECT key, '2030-01-01T00:00:00Z', 100 FROM rules;
            """
        )
        try await admin.execute("DELETE FROM releases WHERE version = '2'")
        func policy() async throws -> String {
            try await admin.query(
                """
                SELECT md5(concat(
                    (SELECT jsonb_agg(a ORDER BY a.bundle) FROM apps AS a), (SELECT jsonb_agg(r ORDER BY r.key) FROM rules AS r),
                    (SELECT jsonb_agg(r ORDER BY r.id) FROM releases AS r),
                    (SELECT jsonb_agg(t ORDER BY t.rule) FROM rule_texts AS t),
                    (SELECT jsonb_agg(s ORDER BY s.rule) FROM rollout_steps AS s)))
                """
            ).value(as: String.self)
        }
        let before = try await policy()
        try await admin.execute("DELETE FROM apps")
        let change = try await admin.query("SELECT max(id) FROM changes").value(as: Int64.self)
        let undone = try await versiongate.run("undo \(change) --yes")
        #expect(undone.status == 0, "\(undone.errors)")
        #expect(undone.errors.contains("nobody has a way out of rule \"lock\""))
        #expect(try await policy() == before)
        let again = try await versiongate.run("undo \(change) --yes")
        #expect(again.status == 1)
        #expect(again.errors.contains("and 582 more"), "\(again.errors)")
    }

    @Test("The commands do not send to the terminal what somebody wrote into the history to steer it")
    func areHarmless() async throws {
        let admin = try await TestDatabase.current.connect(user: "versiongate_admin")
        try await admin.execute(
            """
            SET versiongate.why = E'\\x1B[2J\\nfaked'; SET versiongate.os_user = E'\\x1B]0;title\\x07';
            INSERT INTO apps (bundle) VALUES ('a');
            """
        )
        let shown = try await versiongate.run("history").output
        #expect(!shown.contains("\u{1B}") && !shown.contains("\u{7}"))
        #expect(shown.contains(#"\u{1b}[2J\nfaked"#), "\(shown)")
    }

    @Test("The commands check what was answered at a revision, while --at moves the clock by itself")
    func checkAtARevision() async throws {
        try await versiongate.run("app add a --name A")
        try await versiongate.run("rule add k --bundle a --title one --text X --enable --yes")
        try await versiongate.run("rule edit k --title two --yes")
        try await versiongate.run("rule edit k --starts-at 2099-03-01T12:00:00Z --yes")
        try await versiongate.run("rule remove k --yes")
        func titles(_ options: String) async throws -> String {
            try await versiongate.run("check --format json \(options) bundle=a").output
        }
        let none = "{\"messages\":[]}\n"
        #expect(try await titles("") == none)
        #expect(try await titles("--revision 0") == none)
        #expect(try await titles("--revision 1") == none)
        #expect(try await titles("--revision 2").contains(#""title":"one""#))
        #expect(try await titles("--revision 3").contains(#""title":"two""#))
        #expect(try await titles("--revision 4") == none)
        #expect(try await titles("--revision 4 --at 2099-03-01T12:00:00Z").contains(#""title":"two""#))
        #expect(try await titles("--revision 5 --at 2099-03-01T12:00:00Z") == none)
        let explained = try await versiongate.run("check --explain --revision 4 bundle=a").output
        #expect(explained.contains("k is not sent: it starts at 2099-03-01T12:00:00Z (in "), "\(explained)")
        let data = try await versiongate.run("check --explain --format json --revision 4 bundle=a").output
        #expect(data.contains(#""condition":"starts_at""#))
        #expect(try await versiongate.run("check --explain --revision 1 bundle=a").output.contains("No rules"))
    }

    @Test(
        "The commands refuse revisions that there are not, or that a server would have to answer",
        arguments: [
            ("--revision 6", 1, "there is no revision 6"), ("--revision=-1", 64, "from 0 on"),
            ("--revision x", 64, "--revision"), ("--revision 1 --server http://127.0.0.1:1", 64, "--revision"),
        ]
    )
    func refuseRevisions(_ options: String, _ status: Int, _ message: String) async throws {
        try await versiongate.run("app add a")
        let result = try await versiongate.run("check \(options) bundle=a")
        #expect(result.status == status)
        #expect(result.errors.contains(message), "\(result.errors)")
    }

    @Test("The commands show in lists what a rule waits for, and what is over")
    func listsStates() async throws {
        let admin = try await TestDatabase.current.connect(user: "versiongate_admin")
        try await admin.execute(
            """
            INSERT INTO apps (bundle, paused) VALUES ('a', false), ('p', true);
            INSERT INTO releases (bundle, platform, version, live_at) VALUES ('a', 'ios', '1.2', now() - interval '1 hour');
            INSERT INTO rules (key, bundle, enabled, title, text, target, soak, platforms, rollout, starts_at, ends_at) VALUES
                ('on', 'a', true, 't', 'x', '1.2', NULL, NULL, 100, NULL, NULL),
                ('off', 'a', false, 't', 'x', NULL, NULL, NULL, 100, NULL, NULL),
                ('ended', 'a', true, 't', 'x', NULL, NULL, NULL, 100, NULL, '2026-01-01T00:00Z'),
                ('starts', 'a', true, 't', 'x', NULL, NULL, NULL, 100, '2099-01-01T00:00Z', NULL),
                ('soaks', 'a', true, 't', 'x', '1.2', '2 hours', NULL, 100, NULL, NULL),
                ('android', 'a', true, 't', 'x', '1.2', NULL, '{android}', 100, NULL, NULL),
                ('zero', 'a', true, 't', 'x', NULL, NULL, NULL, 0, NULL, NULL),
                ('ramp', 'a', true, 't', 'x', NULL, NULL, NULL, 0, NULL, NULL),
                ('paused', 'p', true, 't', 'x', NULL, NULL, NULL, 100, NULL, NULL);
            INSERT INTO rollout_steps VALUES ('ramp', '2099-01-01T00:00Z', 12.50);
            """
        )
        let soaked = try await admin.query(
            "SELECT versiongate_internal.time_text(live_at + interval '2 hours') FROM releases"
        )
        .value(as: String.self)
        let shown = try await admin.query(
            "SELECT string_agg(concat_ws(': ', key, status, reason), E'\\n' ORDER BY key) FROM active_rules"
        )
        #expect(
            try shown.value(as: String.self) == """
                android: waiting: no release reaches 1.2 on android
                on: on
                paused: paused: p is paused
                ramp: waiting: the step to 12.5 % comes at 2099-01-01T00:00:00Z
                soaks: waiting: 1.2 on ios is live and soaks until \(soaked)
                starts: scheduled: it starts at 2099-01-01T00:00:00Z
                zero: waiting: its rollout is 0 %
                """
        )
        let list = try await versiongate.run("rule list").output
        let states = list.split(separator: "\n").dropFirst().map {
            $0.split(separator: " ")[...1].joined(separator: " ")
        }
        #expect(
            states.sorted() == [
                "android waiting", "ended ended", "off disabled", "on on", "paused paused", "ramp waiting",
                "soaks waiting", "starts scheduled", "zero waiting",
            ]
        )
    }

    @Test("The commands add up the counted checks of the last day and week")
    func recentChecks() async throws {
        let server = try await TestDatabase.current.connect(user: "versiongate_server")
        try await server.execute(
            """
            INSERT INTO check_counts (hour, bundle, platform, version, checks, messages, lockouts) VALUES
                (date_trunc('hour', now()), 'a', 'ios', '1.1', 30, 20, 10),
                (date_trunc('hour', now()) - interval '3 hours', 'a', 'ios', '1.1', 30, 0, 0),
                (date_trunc('hour', now()), 'a', 'ios', '1.2', 20, 0, 0),
                (date_trunc('hour', now()) - interval '3 days', 'a', 'ios', '1.2', 120, 0, 0),
                (date_trunc('hour', now()) - interval '8 days', 'a', 'ios', '1.2', 500, 0, 0),
                (date_trunc('hour', now()), 'b', NULL, NULL, 1, 1, 1);
            """
        )
        let admin = try await TestDatabase.current.connect(user: "versiongate_admin")
        let shown = try await admin.query(
            "SELECT concat_ws(' ', period, bundle, platform, version, checks, share, messages, lockouts) FROM recent_checks"
        )
        .map { try $0.decode(0, as: String.self) }
        #expect(
            shown == [
                "24 hours a ios 1.1 60 75.00 20 10", "24 hours a ios 1.2 20 25.00 0 0", "24 hours b 1 100.00 1 1",
                "7 days a ios 1.2 140 70.00 0 0", "7 days a ios 1.1 60 30.00 20 10", "7 days b 1 100.00 1 1",
            ]
        )
    }

    @Test("The history is filtered by app, change, end, text and author, and says what there is not")
    func filters() async throws {
        try await versiongate.run("app add com.acme.shop --name Shop")
        try await versiongate.run("app add com.acme.bank")
        try await versiongate.run("rule add shop --bundle com.acme.shop --title T --text X --why ticket")
        try await versiongate.run("rule translate shop de --title Titel --text Text")
        try await versiongate.run("rule add all --title T --text X")
        func ids(_ options: String) async throws -> [String] {
            let output = try await versiongate.run("history --oneline \(options)").output
            return output.split(separator: "\n").compactMap { $0.split(separator: " ").first.map(String.init) }
        }
        #expect(try await ids("com.acme.SHOP") == ["4", "3", "1"])
        #expect(try await ids("com.acme.bank") == ["2"])
        #expect(try await ids("shop") == ["4", "3"])
        let missing = try await versiongate.run("history com.acme.shopp")
        #expect(
            missing.errors.contains("the history has no rule and no app com.acme.shopp; did you mean com.acme.shop?"),
            "\(missing.errors)"
        )
        #expect(try await versiongate.run("history xyz").errors.contains("no app xyz; `versiongate history` lists"))
        #expect(try await ids("2") == ["2"])
        #expect(try await ids("--search TICKET") == ["3"])
        #expect(try await ids("--search titel") == ["4"])
        #expect(try await ids("--until -1h") == ["No"])
        #expect(try await ids("--until now --since -1h --by versiongate_admin --limit 2") == ["5", "4"])
    }
}
