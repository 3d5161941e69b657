import Foundation
import Postgres
import Synchronization
import TestDatabase
import TestRandom
import TestSystem
import Testing
import UpdatePolicy

/// What the pages say to type is typed as it was copied, by a person who was added as Install.md says.
@Suite("Commands on pages", .whole, .migratedDatabase, .timeLimit(.minutes(20)))
struct PageCommandTests {
    /// Nobody logs in with this name in another test.
    private static let person = "test_carol"

    /// One of every kind of row of which a page says how to change it. Times are half an hour beside a whole one, so that a
    /// test that takes minutes finds each in the same hour.
    private static let policy = [
        """
        INSERT INTO apps (bundle, name) VALUES ('com.acme.notes', 'Notes'), ('com.acme.rest', 'Rest'), ('it''s$(id)&', 'O''Neil');
        UPDATE apps SET paused = true WHERE bundle = 'com.acme.rest';
        INSERT INTO store_links VALUES ('com.acme.notes', 'ios', 'https://apps.apple.com/app/id1'),
            ('com.acme.notes', 'android', 'market://details?id=x'), ('com.acme.rest', 'web', 'https://example.com');
        INSERT INTO releases (bundle, version, platform, min_os, live_at) VALUES
            ('com.acme.notes', '1.0', 'ios', '15', now() - interval '90 days 30 minutes'),
            ('com.acme.notes', '1.0', 'android', '8', now() - interval '90 days 30 minutes'),
            ('com.acme.notes', '2.0', 'ios', '15', now() - interval '9 days 30 minutes'),
            ('com.acme.notes', '2.0', 'android', '8', now() - interval '9 days 30 minutes'),
            ('com.acme.rest', '2.0', 'web', NULL, now() - interval '9 days 30 minutes')
        """,
        """
        INSERT INTO rules (key, bundle, versions, enabled, title, text, link) VALUES
            ('message', 'com.acme.notes', '<2', true, 'T', 'X', 'store'), ('off', 'com.acme.rest', '<2', false, 'T', 'X', NULL);
        INSERT INTO rules (key, bundle, versions, enabled, lockout, fuse, title, text, link) VALUES
            ('lock', 'com.acme.notes', '0.9', true, true, 50, 'T', 'X', 'store'),
            ('lock-off', 'com.acme.notes', '0.8', false, true, NULL, 'T', 'X', 'store');
        INSERT INTO rules (key, enabled, lockout, ends_at, title, text)
        VALUES ('everybody-off', false, true, now() + interval '2 hours 30 minutes', 'T', 'X');
        INSERT INTO rules (key, enabled, title, text) VALUES ('everybody', true, 'T', 'X');
        INSERT INTO rules (key, bundle, enabled, title, text)
        VALUES ('ramp', 'com.acme.notes', true, 'T', 'X'), ('held', 'com.acme.notes', true, 'T', 'X');
        INSERT INTO rule_texts VALUES ('message', 'de', 'T', 'X')
        """,
        """
        INSERT INTO rollout_steps SELECT key, now() + step * interval '1 day' - interval '30 minutes', 10 * step + 10
          FROM unnest('{ramp,held}'::text[]) AS key, unnest('{0,2,4}'::int[]) AS step
        """,
        "UPDATE rules SET held_at = now() - interval '5 minutes' WHERE key = 'held'",
        "UPDATE rules SET title = 'Other' WHERE key = 'message'",
        "DELETE FROM rule_texts; UPDATE apps SET note = 'n'",
    ]

    /// What the policy is, without numbers of rows, and with each time by its whole hours from now.
    private static let contents = """
        SELECT t, json FROM (
            SELECT 'apps' AS t, to_jsonb(a) AS json FROM apps AS a
            UNION ALL SELECT 'links', to_jsonb(l) FROM store_links AS l
            UNION ALL SELECT 'releases', to_jsonb(r) - '{id,live_at}'::text[]
                || jsonb_build_object('live', date_trunc('hour', r.live_at - now())) FROM releases AS r
            UNION ALL SELECT 'rules', to_jsonb(r) - '{held_at,ends_at}'::text[]
                || jsonb_build_object('held', date_trunc('hour', r.held_at - now()), 'ends', date_trunc('hour', r.ends_at - now()))
                FROM rules AS r
            UNION ALL SELECT 'texts', to_jsonb(x) FROM rule_texts AS x
            UNION ALL SELECT 'steps', to_jsonb(s) - 'at' || jsonb_build_object('at', date_trunc('hour', s.at - now()))
                FROM rollout_steps AS s
        ) AS all_rows ORDER BY t, json::text
        """

    /// What a page says to type: a command and, of what edits, the same in SQL.
    private struct Edit: Hashable {
        let page: String
        let command: String
        var sql: String?
    }

    private static func plain(_ html: Substring) -> String {
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&#39;", "'"), ("&amp;", "&")]
            .reduce(String(html)) { $0.replacing($1.0, with: $1.1) }
    }

    /// Everything that a page says to type.
    private static func edits(on page: String, _ html: String) -> [Edit] {
        let pair = #/<pre><code>([^<]*)<\/code><\/pre><pre><code>([^<]*)<\/code><\/pre>/#
        let pairs = html.matches(of: pair).map {
            Edit(page: page, command: plain($0.output.1), sql: plain($0.output.2))
        }
        let known = Set(pairs.map(\.command))
        let others = html.matches(of: #/versiongate [a-z][^<\n]*/#).map { plain($0.output) }
        return pairs
            + others.filter { !known.contains($0) }.map { command in
                let change = command.wholeMatch(of: #/versiongate undo (\d+)/#)?.output.1
                return Edit(page: page, command: command, sql: change.map { "SELECT undo_change(\($0));" })
            }
    }

    /// The pages, from the overview on along all links, and those that no link leads to.
    private static func pages(of server: ServingBinary) async throws -> [(address: String, html: String)] {
        var addresses = [
            "/", "/try?bundle=com.acme.notes&version=1.0&platform=ios", "/try?bundle=com.acme.nosuch",
            "/apps/com.acme.nosuch",
            "/rules/nosuch", "/apps/-x", "/unknowns",
        ]
        var pages: [(address: String, html: String)] = []
        while pages.count < addresses.count {
            let address = addresses[pages.count]
            let page = try await HTTPAnswer(server.managementURL + address)
            pages.append((address, page.body))
            for link in page.body.matches(of: #/href="(\/[^"#]*)/#).map({ plain($0.output.1) })
            where !addresses.contains(link) && !link.hasPrefix("/assets") && !link.hasSuffix(".csv")
                && addresses.count < 120
            {
                addresses.append(link)
            }
        }
        return pages
    }

    /// A command and its SQL with values in place of the words in capitals.
    private static func filled(_ edit: Edit) -> Edit {
        let isBlock = edit.command.hasPrefix("versiongate block")
        let values = [
            ("VERSION", isBlock ? "1.0" : "2.1"), ("KEY", "message"), ("BUNDLE", "com.acme.notes"), ("PERCENT", "40"),
        ]
        func fill(_ text: String) -> String {
            PrintedText.filled(
                text.replacing("--COLUMN VALUE", with: "--title New").replacing(
                    "COLUMN = VALUE", with: "title = 'New'"
                ),
                file: "FILE",
                values
            )
        }
        return Edit(page: edit.page, command: fill(edit.command), sql: edit.sql.map(fill))
    }

    private static var binary: BuiltBinary {
        BuiltBinary(environment: ["DATABASE_URL": TestDatabase.current.url(user: person)])
    }

    /// Types a command, which says that it is meant where it needs that.
    private static func type(_ command: String) async throws -> BuiltBinary.Result {
        let function = "versiongate() { \"$VERSIONGATE\" \"$@\"; }\n"
        let first = try await binary.shell("exec sh -c \((function + command).shellWord)")
        guard first.status == 1, first.errors.contains("if this is intended") else { return first }
        return try await binary.shell("exec sh -c \((function + command + " --yes").shellWord)")
    }

    /// Pastes SQL, with the consent that it was refused without.
    private static func paste(_ sql: String) async throws -> TestDatabase.PsqlResult {
        let first = try await TestDatabase.current.psql(sql, user: person)
        guard let key = first.errors.firstMatch(of: #/SET LOCAL versiongate.consent = '([^']*)'/#)?.output.1 else {
            return first
        }
        return try await TestDatabase.current.psql("SET versiongate.consent = '\(key)'; \(sql)", user: person)
    }

    @Test("Every command on a page works as it is copied, by a person's login, and does what the SQL beside it does")
    func areTyped() async throws {
        let database = TestDatabase.current
        let owner = try await database.connect()
        let block = try #require(
            try MarkdownBlock.all(in: "Documentation/Install.md").first { $0.text.contains("CREATE ROLE anna LOGIN;") }
        )
        let statements = block.text.split(separator: "\n").filter { !$0.hasPrefix("\\password") }.joined(
            separator: "\n"
        )
        try await owner.execute(statements.replacing("anna", with: Self.person))
        do {
            try await database.edit(Self.policy)
            try await database.addCounts(
                "(now(), 'com.acme.notes', 'ios', '1.0', 60, 10, 0), (now(), 'com.acme.notes', 'ios', '2.0', 60, 0, 0)"
            )
            try await typeAll()
        } catch {
            try await owner.execute("DROP ROLE \(Self.person)")
            throw error
        }
        try await database.connect().execute("DROP ROLE \(Self.person)")
    }

    private func typeAll() async throws {
        let serving = BuiltBinary(environment: ["DATABASE_URL": TestDatabase.current.url(user: "versiongate_admin")])
        let found = Mutex<[Edit]>([])
        try await ServingBinary.run(serving, arguments: ["--count-interval", "1"]) { server in
            let unknown = [
                "com.acme.other", "it's; a $(bundle)", "com.acme.a,com.acme.b", "com..acme", "-x", "--private",
            ]
            for bundle in unknown {
                _ = try await server.check(#"{"bundle":"\#(bundle)","version":"1"}"#)
            }
            try await Poll.until("the page to show what asks") {
                try await HTTPAnswer(server.managementURL + "/unknowns").body.contains("--private")
            }
            for page in try await Self.pages(of: server) {
                let edits = Self.edits(on: page.address, page.html)
                found.withLock { $0 += edits }
            }
        }
        var typed: [Edit] = []
        for edit in found.withLock(\.self)
        where !typed.contains(where: { $0.command == edit.command && $0.sql == edit.sql }) {
            typed.append(edit)
        }
        #expect(typed.count { $0.sql != nil } >= 25, "\(typed.count)")
        for edit in typed {
            #expect(!edit.command.contains("--database-url"), "\(edit)")
            try await Self.compare(Self.filled(edit))
        }
    }

    /// Types a command, and its SQL, each on a copy of the database, and compares what is there then.
    private static func compare(_ edit: Edit) async throws {
        let comment: Comment = "\(edit.page): \(edit.command)"
        let (typed, after) = try await TestDatabase.withCopy {
            let typed = try await type(edit.command)
            return (typed, try await TestDatabase.current.psql(contents).output)
        }
        #expect(typed.status != 64 && typed.status >= 0, "\(comment): \(typed.errors)")
        guard let sql = edit.sql else {
            #expect(typed.status == 0 || typed.errors.hasPrefix("Error: there is no"), "\(comment): \(typed.errors)")
            return
        }
        let (pasted, afterSQL) = try await TestDatabase.withCopy {
            let pasted = try await paste(sql)
            return (pasted, try await TestDatabase.current.psql(contents).output)
        }
        #expect((typed.status == 0) == pasted.isSuccess, "\(comment): \(typed.errors)\n\(sql): \(pasted.errors)")
        #expect(after == afterSQL, "\(comment)\n\(sql)")
    }
}
