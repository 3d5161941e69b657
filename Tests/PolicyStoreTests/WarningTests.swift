import Postgres
import Synchronization
import TestDatabase
import TestRandom
import Testing

/// Writes that the database accepts, and yet says something about.
@Suite("Warnings", .migratedDatabase)
struct WarningTests {
    /// The messages of the warnings that a script causes after an example is there.
    private func warnings(_ script: String) async throws -> [String] {
        let told = Mutex<[String]>([])
        let connection = try await TestDatabase.current.connect(user: "versiongate_admin") { notice in
            told.withLock { $0.append(notice.message) }
        }
        try await connection.execute(
            """
            INSERT INTO apps (bundle) VALUES ('a'), ('empty');
            INSERT INTO releases (bundle, platform, version, live_at) VALUES ('a', 'ios', '1', '2026-01-01Z');
            INSERT INTO store_links VALUES ('a', 'android', 'market://details?id=a');
            INSERT INTO rules (key, title, text, link) VALUES ('k', 't {app}', 'x', 'https://example.com');
            """
        )
        #expect(told.withLock(\.self) == [])
        try await connection.execute(script)
        await connection.close()
        return told.withLock(\.self)
    }

    @Test(
        "The database warns of braces that are not filled in, once",
        arguments: Trials.some([
            ("UPDATE rules SET title = '{name}'", ["rules.title: {name} is not filled in"]),
            (
                "UPDATE rules SET text = 'x {App} {app}'; UPDATE rules SET title = 'u'",
                ["rules.text: {App} is not filled in"]
            ),
            ("INSERT INTO rule_texts VALUES ('k', 'de', '{Ziel}', 'x')", ["rule_texts.title: {Ziel} is not filled in"]),
            ("UPDATE rules SET text = 'in { braces } {} {1}, 50% soon', note = '{name}'", []),
            ("UPDATE rules SET text = 'Hi { app }'", ["rules.text: { app } is not filled in"]),
            ("UPDATE rules SET text = '{app} ${app} %@'", ["rules.text: ${app} is not filled in"]),
            ("UPDATE rules SET text = 'Hi %1$s'", ["rules.text: %1$s is not filled in"]),
        ])
    )
    func ofBraces(_ script: String, _ expected: [String]) async throws {
        #expect(try await warnings(script) == expected)
    }

    @Test(
        "What an edit was warned of stands in policy_warnings for as long as it is so",
        arguments: Trials.some([
            ("UPDATE rules SET title = '{name}'", "UPDATE rules SET title = 't'"),
            (
                "INSERT INTO rule_texts VALUES ('k', 'de', 't', '{Ziel}'), ('k', 'fr', '{b}', 'x')",
                "DELETE FROM rule_texts"
            ),
            (
                """
                INSERT INTO releases (bundle, platform, version, live_at, regions) VALUES
                    ('a', 'ios', '1', '2100-01-01Z', '{JP}'), ('a', 'ios', '2', now(), '{JP}'), ('a', 'ios', '2', now(), '{US}')
                """, "DELETE FROM releases WHERE live_at > now()"
            ),
            ("INSERT INTO releases (bundle, platform, version) VALUES ('a', 'ios', '2')", "DELETE FROM releases"),
            (
                "INSERT INTO releases (bundle, platform, version, staged, live_at) VALUES ('a', 'ios', '2', true, now())",
                "UPDATE releases SET staged = false"
            ),
            ("INSERT INTO store_links VALUES ('a', 'iphone', 'https://example.com')", "DELETE FROM store_links"),
            (
                "UPDATE rules SET bundle = 'a', link = 'store'",
                "INSERT INTO store_links VALUES ('a', 'ios', 'market://a')"
            ),
            (
                "UPDATE rules SET bundle = 'empty', link = 'store'",
                "INSERT INTO store_links VALUES ('empty', 'ios', 'market://a')"
            ),
            ("UPDATE rules SET bundle = 'a', lockout = true, link = NULL", "UPDATE rules SET lockout = false"),
            (
                """
                SET versiongate.consent = 'k';
                UPDATE rules SET enabled = true, lockout = true, lockout_without_update = true
                """, "UPDATE rules SET ends_at = now() + interval '1 day'"
            ),
            (
                """
                INSERT INTO rules (key, bundle, enabled, title, text)
                SELECT 'r' || n, 'a', true, 't', 'x' FROM generate_series(1, 2000) AS n
                """, "UPDATE rules SET enabled = false WHERE key = 'r1'"
            ),
        ])
    )
    func inPolicyWarnings(_ edit: String, _ fix: String) async throws {
        let told = try await warnings(edit)
        #expect(!told.isEmpty)
        let connection = try await TestDatabase.current.connect(user: "versiongate_admin")
        let listing = "SELECT warning FROM policy_warnings"
        let listed = try await connection.query(listing).map { try $0.decode(0, as: String.self) }
        #expect(listed.sorted() == told.sorted())
        try await connection.execute(fix)
        #expect(try await connection.query(listing).map { try $0.decode(0, as: String.self) } == [])
        await connection.close()
    }

    @Test(
        "The database warns of columns that have no effect",
        arguments: Trials.some([
            (
                "UPDATE rules SET soak = '1 day'; UPDATE rules SET note = 'n'",
                ["rule \"k\": soak has no effect without a target or a lockout"]
            ),
            ("UPDATE rules SET soak = '1 day', lockout = true", []),
            ("UPDATE rules SET soak = '1 day', bundle = 'a', target = '1.2'", []),
            (
                "UPDATE rules SET soak = '1 day', lockout = true; UPDATE rules SET lockout = false",
                ["rule \"k\": soak has no effect without a target or a lockout"]
            ),
            ("UPDATE rules SET soak = '0'", []),
            (
                "UPDATE rules SET lockout_without_update = true",
                ["rule \"k\": lockout_without_update has no effect without lockout"]
            ),
            ("UPDATE rules SET lockout_without_update = true, lockout = true", []),
            ("UPDATE rules SET remind = '1 day', shows = 3, skippable = true, lockout = true", []),
            (
                "UPDATE rules SET lockout_without_update = true, lockout = true; UPDATE rules SET shows = 3",
                ["rule \"k\": remind, shows and skippable have no effect with lockout_without_update"]
            ),
            (
                "UPDATE rules SET skippable = true; UPDATE rules SET lockout_without_update = true, lockout = true",
                ["rule \"k\": remind, shows and skippable have no effect with lockout_without_update"]
            ),
        ])
    )
    func ofWhatHasNoEffect(_ script: String, _ expected: [String]) async throws {
        #expect(try await warnings(script) == expected)
    }

    @Test(
        "The database warns of a platform that no release and no store link has",
        arguments: Trials.some([
            ("'a', '{ios,Android}'", []),
            ("'a', '{iso,ios}'", ["rule \"p\": no release and no store link is on iso"]),
            ("'a', '{macos,web}'", ["rule \"p\": no release and no store link is on macos, web"]),
            ("'empty', '{ios,macos}'", []),
            ("'empty', '{iso}'", ["rule \"p\": no release and no store link is on iso"]),
            ("NULL, '{ios}'", []),
            ("NULL, '{tvos}'", ["rule \"p\": no release and no store link is on tvos"]),
        ])
    )
    func ofPlatforms(_ values: String, _ expected: [String]) async throws {
        let insertion = "INSERT INTO rules (key, title, text, bundle, platforms) VALUES ('p', 't', 'x', \(values));"
        #expect(try await warnings(insertion + "UPDATE rules SET title = 'u', platforms = platforms") == expected)
    }

    @Test(
        "The database warns of a time in seconds, a release that nobody is offered, a key used again",
        arguments: Trials.some([
            (
                "UPDATE rules SET lockout = true, soak = '2'; UPDATE rules SET title = 'u'",
                ["rule \"k\": soak is 2 seconds"]
            ),
            ("UPDATE rules SET remind = '90'; UPDATE rules SET remind = '30'", ["rule \"k\": remind is 30 seconds"]),
            (
                "INSERT INTO releases (bundle, platform, version) VALUES ('a', 'ios', '2')",
                ["release 2 of a on ios has no live_at, so nobody is offered it"]
            ),
            ("INSERT INTO releases (bundle, platform, version, staged) VALUES ('a', 'ios', '2', true)", []),
            (
                """
                BEGIN; DELETE FROM rules; COMMIT;
                INSERT INTO rules (key, title, text) VALUES ('k', 'u', 'y'), ('l', 'u', 'y')
                """,
                ["rule \"k\": change 2 removed a rule with this key, and clients remember it"]
            ),
            ("BEGIN; DELETE FROM rules; INSERT INTO rules (key, title, text) VALUES ('k', 'u', 'y'); COMMIT", []),
            ("BEGIN; DELETE FROM rules; COMMIT; SELECT undo_change(2)", []),
        ])
    )
    func ofWhatIsMeantOtherwise(_ script: String, _ expected: [String]) async throws {
        #expect(try await warnings(script) == expected)
    }

    @Test(
        "The database warns of numbers that no system has, of suffixes, and of a min_os that is missing, once",
        arguments: Trials.some([
            (
                "UPDATE rules SET bundle = 'a', os = '<=18.x || >=19.1'; UPDATE rules SET title = 'u'",
                ["rule \"k\": os asks for ios 19.1, and no system has that number"]
            ),
            (
                "UPDATE rules SET bundle = 'a', platforms = '{ios,android}', os = '<26'",
                ["rule \"k\": os asks for android 26, and no system has that number"]
            ),
            ("UPDATE rules SET bundle = 'empty', os = '<26'", []),
            ("UPDATE rules SET bundle = 'a', platforms = '{ios}', os = '18.x || 26 - 27'", []),
            (
                """
                BEGIN; INSERT INTO releases (bundle, platform, version, min_os, live_at) VALUES ('a', 'windows', '1', '11', now());
                COMMIT; UPDATE releases SET min_os = '10.0.22000' WHERE platform = 'windows'
                """, ["release 1 of a on windows: min_os asks for windows 11, and no system has that number"]
            ),
            (
                """
                INSERT INTO releases (bundle, platform, version, build, live_at) VALUES ('a', 'ios', '1.1+7', '7', now());
                UPDATE releases SET build = NULL WHERE build = '7'; UPDATE releases SET note = 'n'
                """,
                ["release 1.1+7 of a on ios has a suffix in its version, which does not count, and no build"]
            ),
            (
                """
                INSERT INTO releases (bundle, platform, version, min_os, live_at) VALUES
                    ('a', 'android', '1', '8', '2026-01-01Z'), ('a', 'android', '2', '9', '2026-01-02Z'), ('a', 'android', '4', NULL, now());
                INSERT INTO releases (bundle, platform, version, live_at) VALUES ('a', 'android', '5', now());
                UPDATE releases SET withdrawn_at = now() WHERE version = '5'; UPDATE releases SET note = 'n' WHERE version = '4'
                """,
                ["release 4 of a on android has no min_os, and 2 before it has 9"]
            ),
        ])
    )
    func ofSystemsAndSuffixes(_ script: String, _ expected: [String]) async throws {
        #expect(try await warnings(script) == expected)
    }

    @Test(
        "The database warns of an edit of a great part of an app's rows, whatever the table and column",
        arguments: Trials.some([
            ("UPDATE rules SET enabled = true WHERE bundle = 'm'", "changes 4 of the 5 rules of m"),
            ("UPDATE rules SET note = 'n' WHERE key IN ('m1', 'm2')", nil),
            ("DELETE FROM rules WHERE key = 'm4'; UPDATE rules SET note = 'n' WHERE bundle IS NULL", nil),
            (
                "BEGIN; DELETE FROM rules WHERE key = 'm4'; UPDATE rules SET note = 'n' WHERE key IN ('m1', 'm2'); COMMIT",
                "changes 2 and removes 1 of the 5 rules of m"
            ),
            ("UPDATE releases SET min_os = '9' WHERE bundle = 'm' AND id % 8 = 0", "changes 3 of the 24 releases of m"),
            ("UPDATE releases SET note = 'n' WHERE bundle = 'm' AND id % 12 = 0", nil),
            ("UPDATE release_notes SET text = 'y'", "changes 24 of the 24 release_notes of m"),
            ("UPDATE rule_texts SET title = 'y'", "changes 3 of the 3 rule_texts of m"),
            ("UPDATE rollout_steps SET rollout = rollout + 1", "changes 3 of the 3 rollout_steps of m"),
            ("DELETE FROM store_links WHERE bundle = 'm'", "removes 3 of the 3 store_links of m"),
            ("UPDATE feed_templates SET body = 'y'", "changes 3 of the 3 feed_templates of m"),
            ("UPDATE apps SET paused = true", "changes 3 of the 3 apps"),
            ("UPDATE apps SET bundle = 'M' WHERE bundle = 'm'", nil),
            (
                "BEGIN; UPDATE apps SET paused = true; COMMIT; SELECT undo_change(max(id)) FROM changes",
                "changes 3 of the 3 apps"
            ),
        ])
    )
    func ofMassEdits(_ script: String, _ expected: String?) async throws {
        let rows = """
            BEGIN;
            INSERT INTO apps (bundle) VALUES ('m');
            INSERT INTO store_links SELECT 'm', p, 'https://example.com' FROM unnest('{ios,web,tvos}'::text[]) AS p;
            INSERT INTO feed_templates SELECT 'm', 'n' || n, 'text/plain', 'x' FROM generate_series(1, 3) AS n;
            INSERT INTO releases (bundle, platform, version, live_at)
            SELECT 'm', 'ios', n || '.0', '2026-01-01Z'::timestamptz + n * interval '1 day' FROM generate_series(1, 24) AS n;
            INSERT INTO release_notes SELECT id, 'de', 'x' FROM releases WHERE bundle = 'm';
            INSERT INTO rules (key, bundle, title, text, enabled)
            SELECT 'm' || n, 'm', 't', 'x', n = 5 FROM generate_series(1, 5) AS n;
            INSERT INTO rule_texts SELECT 'm1', l, 't', 'x' FROM unnest('{de,fr,it}'::text[]) AS l;
            INSERT INTO rollout_steps SELECT 'm2', '2100-01-01Z'::timestamptz + n * interval '1 day', n FROM generate_series(1, 3) AS n;
            COMMIT;
            """
        let told = try await warnings("\(rows) \(script)").filter { $0.hasPrefix("this edit") }
        #expect(told == (expected.map { ["this edit \($0)"] } ?? []))
    }

    private static func lost(_ rule: String, _ platform: String) -> String {
        "rule \"\(rule)\" leads to the store, but a has no store link for \(platform): users there see no button"
    }

    @Test(
        "The database warns of enabled lockouts that a new release, or a store link that goes, leaves without a button",
        arguments: Trials.some([
            (
                "INSERT INTO releases (bundle, platform, version, live_at) VALUES ('a', 'macos', '3', now())",
                [lost("lock", "macos")]
            ),
            ("DELETE FROM store_links WHERE platform = 'android'", [lost("lock", "android")]),
            (
                "UPDATE store_links SET platform = 'tvos' WHERE platform = 'ios'",
                [lost("lock", "ios"), lost("more", "ios")]
            ),
            ("UPDATE releases SET note = 'n'; UPDATE store_links SET link = 'https://example.com/b'", []),
            (
                """
                INSERT INTO releases (bundle, platform, version, live_at)
                VALUES ('a', 'ios', '4', now()), ('empty', 'ios', '4', now())
                """, []
            ),
            (
                """
                INSERT INTO releases (bundle, platform, version, live_at) VALUES ('a', 'macos', '3', now());
                INSERT INTO store_links VALUES ('a', 'macos', 'https://example.com')
                """, []
            ),
            ("BEGIN; UPDATE rules SET enabled = false WHERE lockout; COMMIT; DELETE FROM store_links", []),
            ("DELETE FROM apps WHERE bundle = 'a'", []),
        ])
    )
    func ofLostButtons(_ script: String, _ expected: [String]) async throws {
        let lockouts = """
            BEGIN;
            INSERT INTO store_links VALUES ('a', 'ios', 'https://example.com');
            INSERT INTO releases (bundle, platform, version, live_at) VALUES ('a', 'ios', '3', now()), ('a', 'android', '3', now());
            INSERT INTO rules (key, bundle, title, text, link, versions, platforms, lockout, enabled) VALUES
                ('lock', 'a', 't', 'x', 'store', '<2', NULL, true, true),
                ('more', 'a', 't', 'x', 'store', '<2', '{ios}', true, true),
                ('off', 'a', 't', 'x', 'store', '<2', NULL, true, false),
                ('message', 'a', 't', 'x', 'store', '<2', NULL, false, true);
            COMMIT;
            """
        #expect(try await warnings("\(lockouts) \(script)").filter { !$0.hasPrefix("this edit") } == expected)
    }
}
