import Postgres
import TestDatabase
import Testing
import UpdatePolicy

@testable import PolicyPages

@Suite("Fuses on pages", .migratedDatabase)
struct FusePageTests {
    @Test("An armed fuse is said with what it bears, a blown one with its figures and the change that takes it back")
    func saysWhatIsSo() async throws {
        let owner = try await TestDatabase.current.connect()
        try await owner.execute(
            """
            INSERT INTO apps (bundle) VALUES ('a');
            INSERT INTO releases (bundle, platform, version, live_at) VALUES ('a', 'ios', '2.0', now() - interval '1 day');
            INSERT INTO rules (key, bundle, title, text, lockout, enabled, versions, fuse)
            VALUES ('lock', 'a', 'T', 'X', true, true, '<2', 5);
            """
        )
        try await owner.execute(
            "INSERT INTO lockout_counts VALUES ('lock', 'a', date_trunc('minute', now()), 1000, 30,"
                + " (SELECT revision FROM policy_revision))"
        )
        var lock = Rule(key: "lock", title: "T", text: "X") {
            $0.bundle = "a"
        }
        (lock.enabled, lock.lockout, lock.versions) = (true, true, "<2")
        lock.fuse = Percentage(hundredths: 500)
        let policy = Policy(revision: 1, token: "t", apps: [App(bundle: "a")], releases: [], rules: [lock])

        let armed = try await PolicyPages.answering { _ in policy }
        #expect(
            try await armed.html(at: "/rules/lock").contains(
                "In the last 10 minutes the rule locked out 3.0 % of the 1,000 checks of a."
            )
        )
        let before = try await armed.html(at: "/")
        #expect(before.contains("<a href=\"/rules/lock\">lock</a> at 5 %") && !before.contains("The fuse of"))
        await armed.close()

        try await owner.execute("UPDATE lockout_counts SET lockouts = 900")
        #expect(try await owner.query("SELECT blow_fuses()").value(as: Int32.self) == 1)
        let blown = try await PolicyPages.answering { _ in policy }
        for path in ["/", "/rules/lock"] {
            let page = try await blown.html(at: path)
            #expect(
                page.contains("(change 2): lock: 900 of 1000 checks of a in the last 10 minutes were locked out"),
                "\(path)"
            )
            #expect(page.contains("90 %; its fuse is 5 %"), "\(path)")
        }
        #expect(try await blown.html(at: "/").contains("The fuse of <a href=\"/rules/lock\">lock</a>"))
        await blown.close()
    }
}
