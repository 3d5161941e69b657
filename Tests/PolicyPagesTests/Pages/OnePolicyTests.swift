import Postgres
import TestDatabase
import Testing
import UpdatePolicy

@testable import PolicyPages

/// A server that could not load the newest policy: the database has another one than the server answers with.
@Suite("One policy on a page", .migratedDatabase)
struct OnePolicyTests {
    private func pages() async throws -> PolicyPages {
        let owner = try await TestDatabase.current.connect()
        try await owner.execute(
            """
            INSERT INTO apps (bundle, name, paused) VALUES ('a', 'New', true), ('b', 'Other', false);
            INSERT INTO releases (bundle, platform, version, live_at) VALUES
                ('a', 'ios', '2.0', now() - interval '1 day'), ('a', 'android', '9', now() + interval '1 hour');
            INSERT INTO rules (key, bundle, title, text, lockout, enabled, versions) VALUES
                ('lock', 'a', 'T', 'X', true, true, '<2'), ('other', 'a', 'T', 'X', true, true, '<2');
            INSERT INTO check_counts (hour, bundle, platform, version, checks, messages, lockouts)
            VALUES (date_trunc('hour', now()), 'a', 'ios', '1.0', 100, 50, 50);
            """
        )
        return try await PolicyPages.answering { now in
            Policy(
                revision: 1, token: "t", apps: [App(bundle: "a", name: "Old")],
                releases: [
                    Release(id: 1, bundle: "a", platform: "ios", version: "1.5") {
                        $0.liveAt = now.advanced(byMicroseconds: -86_400_000_000)
                    }
                ],
                rules: [
                    Rule(key: "lock", title: "T", text: "X") {
                        $0.bundle = "a"
                        $0.endsAt = now.advanced(byMicroseconds: 3_600_000_000)
                        $0.lockout = true
                    }
                ]
            )
        }
    }

    private func body(_ pages: PolicyPages, _ path: String) async throws -> String {
        // The history is that of the database, wherever it stands on a page.
        try await pages.html(at: path).replacing(#/(?s)<article class="change".*?<\/article>/#, with: "")
    }

    @Test("The overview has the apps, lockouts, pauses and events of the policy that answers")
    func overview() async throws {
        let pages = try await pages()
        let overview = try await body(pages, "/")
        #expect(overview.contains(">Old</span>") && !overview.contains(">New</span>") && !overview.contains("Other"))
        #expect(!overview.contains("href=\"/apps/b\""))
        #expect(!overview.contains("class=\"tag off\">paused") && !overview.contains("Paused apps"))
        #expect(overview.contains("href=\"/rules/lock\"") && !overview.contains("href=\"/rules/other\""))
        #expect(overview.contains("<td>rule lock ends</td>") && !overview.contains("goes live"))
        #expect(overview.contains("<td class=\"figure\">100</td>"), "what was counted is that of the database")
        #expect(overview.contains("1 lockout is enabled."), "the database knows only what its own rules are")
        await pages.close()
    }

    @Test("The figures of an app and of a rule are judged by the policy that answers, on the page and as CSV")
    func figures() async throws {
        let pages = try await pages()
        let app = try await body(pages, "/apps/a")
        #expect(app.contains("How fast does 1.5 spread on iOS?") && !app.contains("2.0"))
        #expect(try await body(pages, "/apps/a/adoption-ios.csv").hasPrefix("elapsed_seconds,1.5\r\n"))
        #expect(try await pages.answer("/apps/a/adoption-android.csv").status == 404)
        // By the policy in the database nobody gets it, as the app is paused.
        let rule = try await body(pages, "/rules/lock")
        for page in [app, rule] {
            #expect(page.contains("the database has a different revision from the one that answers"))
            #expect(!page.contains(">paused</span>") && !page.contains(">on</span>"))
        }
        let reach = rule.firstMatch(of: #/<p class="answer">(Of the .*?)<\/p>/#).map { String($0.output.1) }
        #expect(
            reach == "Of the 100 checks of the last 30 days it reaches about 100.0 % now, 0.0 % with the lockout;"
                + " 100.0 % at 100 %, 0.0 % with the lockout."
        )
        await pages.close()
    }

    @Test("The page of a rule that was removed says by which change, and one that never was says nothing of the kind")
    func removedRule() async throws {
        let pages = try await pages()
        let owner = try await TestDatabase.current.connect()
        try await owner.execute("INSERT INTO rules (key, title, text) VALUES ('was', 'T', 'X')")
        try await owner.execute("DELETE FROM rules WHERE key = 'was'")
        let change = try await owner.query("SELECT max(id) FROM changes").value(as: Int64.self)
        let removed = try await pages.answer("/rules/was")
        #expect(removed.status == 404)
        #expect(
            removed.body.contains(
                "removed by <a href=\"/history?about=\(change)#change-\(change)\">change \(change)</a>"),
            "\(removed.body)"
        )
        #expect(removed.body.contains("<a href=\"/history?about=was\">"))
        let unknown = try await pages.answer("/rules/never")
        #expect(unknown.status == 404 && !unknown.body.contains("removed by"))
        await pages.close()
    }
}
