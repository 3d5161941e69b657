import Foundation
import Postgres
import TestDatabase
import TestRandom
import Testing

/// What is said on several screens is the same on each of them: in SQL, on the command line and on the pages.
@Suite("Same on every screen", .whole, .migratedDatabase, .timeLimit(.minutes(20)))
struct SameScreenTests {
    private static let setup = [
        """
        INSERT INTO apps (bundle) VALUES ('a'), ('b'), ('c'), ('d');
        INSERT INTO releases (bundle, platform, version, live_at) VALUES ('a', 'ios', '1.1', now() - interval '1 hour');
        INSERT INTO releases (bundle, platform, version) VALUES ('a', 'ios', '1.5');
        INSERT INTO releases (bundle, platform, version, live_at, staged) VALUES ('a', 'ios', '1.4', NULL, true);
        INSERT INTO releases (bundle, platform, version, live_at) VALUES ('a', 'ios', '1.6', now() + interval '2 days');
        INSERT INTO releases (bundle, platform, version, live_at, withdrawn_at)
        VALUES ('a', 'ios', '1.3', now() + interval '1 day', now() + interval '1 day');
        INSERT INTO releases (bundle, platform, version, live_at) VALUES ('d', 'ios', '2', now()), ('d', 'android', '1', now());
        INSERT INTO releases (bundle, platform, version, staged) VALUES ('d', 'android', '2', true)
        """,
        """
        INSERT INTO rules (key, bundle, versions, regions, platforms, lockout, enabled, title, text)
        VALUES ('locks', 'a', '1.0', '{DE,AT}', '{ios}', true, true, 'T', 'X');
        INSERT INTO rules (key, bundle, target, lockout, enabled, title, text) VALUES ('waits', 'a', '1.5', true, true, 'T', 'X');
        INSERT INTO rules (key, bundle, target, soak, enabled, title, text) VALUES ('soaks', 'a', '1.1', '2 days', true, 'T', 'X');
        INSERT INTO rules (key, bundle, title, text) VALUES ('off', 'a', 'T', 'X');
        INSERT INTO rules (key, bundle, starts_at, enabled, title, text)
        VALUES ('comes', 'a', now() + interval '1 day', true, 'T', 'X');
        INSERT INTO rules (key, bundle, ends_at, enabled, title, text)
        VALUES ('was', 'a', now() - interval '1 day', true, 'T', 'X');
        INSERT INTO rules (key, bundle, enabled, title, text) VALUES ('rests', 'b', true, 'T', 'X');
        INSERT INTO rules (key, bundle, final, position, enabled, title, text) VALUES ('first', 'c', true, -1, true, 'T', 'X');
        INSERT INTO rules (key, bundle, enabled, title, text) VALUES ('behind', 'c', true, 'T', 'X');
        INSERT INTO rules (key, bundle, versions, platforms, lockout, enabled, title, text)
        VALUES ('partly', 'd', '<2', NULL, true, true, 'T', 'X'), ('nowhere', 'd', '<2', '{android}', true, true, 'T', 'X');
        UPDATE apps SET paused = true WHERE bundle = 'b'
        """,
        """
        INSERT INTO rules (key, bundle, title, text) SELECT 'many-' || n, 'a', 'T', 'X' FROM generate_series(1, 25) AS n;
        INSERT INTO rule_texts (rule, language, title, text) SELECT 'many-' || n, 'de', 'T', 'X' FROM generate_series(1, 25) AS n
        """,
    ]

    /// It has a way out on iOS of d, and none of a and on Android.
    private static let ruleForEveryApp = """
        SET LOCAL versiongate.consent = 'every';
        INSERT INTO rules (key, versions, lockout, enabled, title, text) VALUES ('every', '<2', true, true, 'T', 'X')
        """

    private let versiongate = BuiltBinary(.current)

    private func lines(_ command: String) async throws -> [Substring] {
        try await versiongate.succeed(command).split(separator: "\n")
    }

    /// What stands on a page between a text and the end of its row.
    private static func row(_ page: String, after text: String) -> Substring {
        guard let start = page.range(of: text) else { return "" }
        return page[start.upperBound...].prefix { $0 != "\n" }
    }

    @Test("A rule, a release and a change are the same in SQL, on the command line and on the pages")
    func areTheSame() async throws {
        let database = TestDatabase.current
        for script in Self.setup + [Self.ruleForEveryApp] { try await database.edit(script) }
        let statuses = try await database.connect().query(
            "SELECT key, bundle, status FROM rule_status WHERE key NOT LIKE 'many-%' ORDER BY key"
        ).map { row in
            (
                try row.decode(0, as: String.self), try row.decode(1, as: String?.self),
                try row.decode(2, as: String.self)
            )
        }
        #expect(
            Set(statuses.map(\.2)) == [
                "on", "on without lockout", "partly without lockout", "waiting", "disabled", "scheduled", "ended",
                "paused",
                "hidden",
            ],
            "\(statuses)"
        )
        #expect(statuses.contains { $0 == ("every", nil, "partly without lockout") })
        let list = try await lines("rule list")
        let present = try await lines("status")
        let releases = try await lines("release list --bundle a")
        let history = try await lines("history 3")
        let served = BuiltBinary(environment: ["DATABASE_URL": database.url(user: "versiongate_admin")])
        try await ServingBinary.run(served) { server in
            for (key, bundle, status) in statuses {
                let bundles = bundle.map { [$0] } ?? ["a", "d"]
                var lists = [list]
                for bundle in bundles { lists.append(try await lines("rule list --bundle \(bundle)")) }
                for list in lists {
                    let listed = try #require(list.first { $0.hasPrefix("\(key) ") }, "\(key)")
                    #expect(listed.contains(" \(status) "), "\(listed)")
                }
                let shown = try await lines("rule show \(key)")
                #expect(shown.contains { $0.hasPrefix("status ") && $0.contains(" \(status)") }, "\(shown)")
                let page = try await server.management("/rules/\(key)").body
                #expect(Self.row(page, after: "<h1>\(key) ").contains(">\(status)</span>"), "\(key) is \(status)")
                for bundle in bundles {
                    let app = Self.row(
                        try await server.management("/apps/\(bundle)").body,
                        after: "<a href=\"/rules/\(key)\">\(key)</a>"
                    )
                    #expect(app.contains(">\(status)</span>"), "\(key) is \(status): \(app)")
                }
            }
            let overview = try await server.management("/").body
            for (key, status) in [
                ("locks", "on"), ("waits", "waiting"), ("partly", "partly without lockout"),
                ("nowhere", "on without lockout"), ("every", "partly without lockout"),
            ] {
                #expect(present.contains { $0.contains(" \(key) ") && $0.contains(" \(status) ") }, "\(present)")
                #expect(
                    Self.row(overview, after: "<a href=\"/rules/\(key)\">\(key)</a>").contains(">\(status)</span>"),
                    "\(overview)"
                )
            }
            let who = "1.0, iOS, DE and AT"
            #expect(list.contains { $0.contains(who) } && present.contains { $0.contains(who) }, "\(present)")
            for page in ["/", "/apps/a", "/rules/locks"] {
                #expect(try await server.management(page).body.contains(who), "\(page)")
            }
            let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).yaml")
            defer { try? FileManager.default.removeItem(at: file) }
            try Data(try await lines("export").joined(separator: "\n").replacing("title: T", with: "title: U").utf8)
                .write(to: file)
            let plan = try await versiongate.run(arguments: ["plan", file.path]).output
            #expect(plan.contains("~ rule locks (a: \(who))\n"), "\(plan)")
            try await database.edit("UPDATE rules SET regions = NULL WHERE key = 'locks'")
            let block = try await versiongate.run("block a 1.0 --platform ios").errors
            #expect(block.contains("rule locks blocks 1.0 already"), "\(block)")
            let app = try await server.management("/apps/a").body
            for (version, state) in [
                ("1.1", "live since"), ("1.3", "withdrawn"), ("1.4", "staged"), ("1.5", "no date"), ("1.6", "from"),
            ] {
                #expect(releases.contains { $0.contains(" \(version) ") && $0.contains(state) }, "\(releases)")
                #expect(Self.row(app, after: "<th scope=\"row\">\(version)</th>").contains(state), "\(app)")
            }
            #expect(history.contains { $0.hasSuffix("  added 25 rules, 25 texts") }, "\(history)")
            for page in ["/history", "/rules/many-1"] {
                #expect(try await server.management(page).body.contains("added 25 rules, 25 texts"), "\(page)")
            }
        }
    }

    @Test("The overview shows the share of 24 hours and the edits, and nothing is red because of what is over")
    func overviewShowsWhatMoved() async throws {
        let database = TestDatabase.current
        try await database.edit(Self.setup[0], Self.setup[1])
        let earlier = "date_trunc('hour', now()) - hour * interval '1 hour', 'a', 'ios', '1.0', 1000, 100, 100"
        let owner = try await database.connect()
        try await owner.execute(
            """
            INSERT INTO check_counts (hour, bundle, platform, version, checks, messages, lockouts)
            SELECT \(earlier) FROM generate_series(2, 22) AS hour
            """
        )
        let served = BuiltBinary(environment: ["DATABASE_URL": database.url(user: "versiongate_admin")])
        try await database.addCounts("(now(), 'a', 'ios', '1.0', 1000, 300, 300)")
        try await ServingBinary.run(served, arguments: ["--count-interval", "0"]) { server in
            let page = try await server.management("/").body
            #expect(page.contains(#"<h1 class="calm">2 lockouts are in force.</h1>"#), "\(page.prefix(4_000))")
            #expect(page.contains("10.9 % of the 22,000 checks of the last 24 hours."))
            #expect(page.contains(#"class="mark""#), "the edits of the rules")
            #expect(page.contains("added 11 rules"))
        }
    }

    @Test("With counts that cannot be read, status and pages call them not known and say all the rest")
    func countsAreBroken() async throws {
        let database = TestDatabase.current
        for script in Self.setup.prefix(2) { try await database.edit(script) }
        try await database.connect().execute("ALTER TABLE check_counts RENAME COLUMN checks TO lost")
        let status = try await versiongate.run("status")
        #expect(status.status == 0, "\(status.errors)")
        #expect(status.output.contains("Warning: the counts cannot be read: column \"checks\" does not exist"))
        #expect(status.output.contains("not known") && status.output.contains("locks"), "\(status.output)")
        #expect(status.output.contains("Paused apps: b"))
        let served = BuiltBinary(environment: ["DATABASE_URL": database.url(user: "versiongate_admin")])
        try await ServingBinary.run(served) { server in
            let fault = "What was counted cannot be read, so it is not known here."
            let overview = try await server.management("/").body
            #expect(overview.contains(fault), "\(overview)")
            #expect(overview.contains("2 lockouts are in force.") && overview.contains("not known"), "\(overview)")
            #expect(overview.contains("SELECT undo_change(2);"), "the newest change")
            let rule = try await server.management("/rules/locks").body
            #expect(rule.contains(fault) && rule.contains("id=\"change-2\""), "\(rule)")
            #expect(try await server.management("/apps/a").status == 200)
        }
    }
}
