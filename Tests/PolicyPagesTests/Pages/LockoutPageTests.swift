import Postgres
import TestDatabase
import Testing
import UpdatePolicy

@testable import PolicyPages

/// What pages say of an enabled lockout: how many it locks out, since when, and how to end that.
@Suite("Lockouts on pages", .migratedDatabase)
struct LockoutPageTests {
    private static let rule = Rule(key: "lock", title: "T", text: "X") {
        $0.bundle = "a"
        $0.enabled = true
        $0.lockout = true
        $0.versions = "<2"
    }

    /// The lockout in the database, which was changed just now.
    private func owner() async throws -> PostgresConnection {
        let owner = try await TestDatabase.current.connect()
        try await owner.execute(
            """
            INSERT INTO apps (bundle) VALUES ('a');
            INSERT INTO releases (bundle, platform, version, live_at) VALUES ('a', 'ios', '2.0', now() - interval '1 day');
            INSERT INTO rules (key, bundle, title, text, lockout, enabled, versions)
            VALUES ('lock', 'a', 'T', 'X', true, true, '<2');
            """
        )
        return owner
    }

    /// A page of a server that answers by the newest policy.
    private func page(_ path: String, of owner: PostgresConnection, sendsLockouts: Bool = true) async throws -> String {
        let token = try await owner.query("SELECT token FROM policy_revision").value(as: String.self)
        let pages = try await PolicyPages.answering(sendsLockouts: sendsLockouts) { _ in
            Policy(revision: 1, token: token, apps: [App(bundle: "a")], releases: [], rules: [Self.rule])
        }
        let page = try await pages.html(at: path)
        await pages.close()
        return page
    }

    @Test(
        "The overview and the page of the rule begin with its share, the share before, and the command that turns it off"
    )
    func beginsWithTheCommand() async throws {
        let owner = try await owner()
        for path in ["/", "/rules/lock"] {
            let page = try await page(path, of: owner)
            #expect(page.contains("not counted yet") && !page.contains(">no checks<"), "\(path): \(page)")
        }
        #expect(try await page("/rules", of: owner).contains("tag good\">on"), "nothing has risen")
        // 1 % before the change, 40 % since.
        try await owner.execute(
            """
            INSERT INTO lockout_counts VALUES
                ('lock', 'a', date_trunc('minute', now()) - interval '5 minutes', 1000, 10, 0),
                ('lock', 'a', date_trunc('minute', now()), 1000, 400, (SELECT revision FROM policy_revision))
            """
        )
        for (path, heading) in [("/", "Lockouts over time"), ("/rules/lock", "In words")] {
            let page = try await page(path, of: owner)
            #expect(page.contains("40.0 % of 1,000 checks</span> (1.0 % before)"), "\(path): \(page)")
            let parts = page.split(separator: heading, maxSplits: 1)
            #expect(parts.count == 2 && parts[0].contains("<code>versiongate rule disable lock"), "\(path)")
        }
        #expect(try await page("/rules", of: owner).contains("tag alert\">on"), "red is what has risen")
    }

    @Test("A server under its brake says whether others still lock out, and their shares, or that nobody does")
    func isBrakedAlone() async throws {
        let owner = try await owner()
        let alone = try await page("/", of: owner, sendsLockouts: false)
        #expect(alone.contains("The brake is on: 1 lockout is sent as a plain message."), "\(alone)")
        #expect(alone.contains("would lock out"))

        let other = try await TestDatabase.current.connect()
        try await other.execute("SET application_name = 'versiongate at revision 1 on gate-2:8080'")
        let beside = try await page("/", of: owner, sendsLockouts: false)
        #expect(
            beside.contains("The brake of this server is on, but others send lockouts: 1 is in force."), "\(beside)")
        #expect(beside.contains("on at this server"))
        for path in ["/", "/rules/lock"] {
            let page = try await page(path, of: owner, sendsLockouts: false)
            #expect(page.contains("locks out") && !page.contains("would lock out"), "\(path)")
        }
        try await other.execute("SET application_name = 'versiongate at revision 1, no lockouts on gate-2:8080'")
        #expect(try await page("/", of: owner, sendsLockouts: false).contains("The brake is on: 1 lockout"))
    }

    @Test("With the database away the overview begins with what stops lockouts, and names no command that needs it")
    func isAway() async throws {
        let overview = try await TestScene("com.example.doto").html([])
        let parts = overview.split(separator: "is enabled and locks out", maxSplits: 1)
        #expect(parts.count == 2 && parts[0].contains("versiongate brake on"), "\(overview)")
        #expect(!overview.contains("rule disable"))
        #expect(overview.contains("off at this server"))
    }

    @Test("A change that was asked for is open, and those of a list are closed")
    func opensTheChange() async throws {
        let owner = try await owner()
        #expect(try await page("/history?about=1", of: owner).contains("<details id=\"rows-1\" open>"))
        #expect(try await page("/history", of: owner).contains("<details id=\"rows-1\">"))
    }
}
