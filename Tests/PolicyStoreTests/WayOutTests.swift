import Postgres
import Synchronization
import TestDatabase
import TestRandom
import Testing

/// What is so about lockouts, and which edits take a way out away.
@Suite("Ways out", .migratedDatabase)
struct WayOutTests {
    /// A lockout of one version with a way out on ios alone.
    private static let example = """
        INSERT INTO apps (bundle) VALUES ('a');
        INSERT INTO releases (bundle, platform, version, live_at)
        VALUES ('a', 'ios', '2.3', '2020-01-01Z'), ('a', 'ios', '2.3.5', '2020-02-01Z');
        INSERT INTO rules (key, bundle, versions, lockout, enabled, title, text, link)
        VALUES ('bad-2.3', 'a', '>=2.3 <2.3.5', true, true, 't', 'x', 'https://a.example');
        """

    /// Runs an edit, and gives its warnings and what the lockout is then.
    private func outcome(_ edit: String, example: String = example) async throws -> (warnings: [String], status: String)
    {
        let warnings = Mutex<[String]>([])
        let connection = try await TestDatabase.current.connect(user: "versiongate_admin") { notice in
            if notice.isWarning { warnings.withLock { $0.append(notice.message) } }
        }
        try await connection.execute(example)
        warnings.withLock { $0 = [] }
        try await connection.execute(edit)
        let status = try await connection.query(
            "SELECT concat_ws(': ', status, reason) FROM rule_status WHERE key = 'bad-2.3'"
        ).value(as: String.self)
        await connection.close()
        return (warnings.withLock(\.self), status)
    }

    private static let lost = "nobody has a way out of rule \"bad-2.3\" on "
    private static let newest = "WHERE version = '2.3.5'"

    /// Edits, the beginning of the warning (nil: none), and the status after it.
    static let edits: [(edit: String, warning: String?, status: String)] = [
        ("UPDATE releases SET staged = true \(newest)", lost + "ios", "on without lockout: no way out on ios"),
        ("UPDATE releases SET live_at = NULL \(newest)", lost + "ios", "on without lockout: no way out on ios"),
        (
            "UPDATE releases SET live_at = '2090-01-01Z' \(newest)", lost + "ios until 2090-01-01T00:00:00Z",
            "on without lockout: no way out on ios"
        ),
        ("UPDATE releases SET regions = '{US}' \(newest)", lost + "ios (some regions or systems)", "on"),
        ("UPDATE releases SET min_os = '99' \(newest)", lost + "ios (some regions or systems)", "on"),
        ("UPDATE releases SET withdrawn_at = now() + interval '1 minute' \(newest)", lost + "ios from ", "on"),
        ("UPDATE releases SET withdrawn_at = now() \(newest)", lost + "ios", "on without lockout: no way out on ios"),
        ("DELETE FROM releases \(newest)", lost + "ios", "on without lockout: no way out on ios"),
        (
            "UPDATE rules SET regions = '{JP}'; UPDATE releases SET regions = '{US}' \(newest)", lost + "ios in JP",
            "on without lockout: no way out on ios in JP"
        ),
        ("UPDATE rules SET os = '>=17'; UPDATE releases SET min_os = '18' \(newest)", lost + "ios", "on"),
        (
            "UPDATE releases SET live_at = now() \(newest); UPDATE rules SET soak = '2 days'", lost + "ios until ",
            "on without lockout: no way out on ios"
        ),
        (
            "UPDATE rules SET platforms = '{ios,android}'", lost + "android",
            "partly without lockout: no way out on android"
        ),
        (
            "INSERT INTO releases (bundle, platform, version, live_at) VALUES ('a', 'android', '1', '2020-01-01Z')",
            lost + "android", "partly without lockout: no way out on android"
        ),
        (
            "INSERT INTO rules (key, bundle, position, final, enabled, title, text) VALUES ('all', 'a', -1, true, true, 't', 'x')",
            """
            rule "bad-2.3" is hidden: "all" comes before it, is final and is sent to everybody whom it is for
            """,
            "hidden: all comes before it, is final and is sent to everybody whom it is for"
        ),
        (
            """
            INSERT INTO rules (key, bundle, position, final, enabled, title, text, versions)
            VALUES ('some', 'a', -1, true, true, 't', 'x', '<1')
            """, nil, "on"
        ),
        ("UPDATE rules SET title = 'u'; UPDATE releases SET note = 'n'", nil, "on"),
        ("DELETE FROM releases WHERE version = '2.3'", nil, "on"),
        (
            "INSERT INTO releases (bundle, platform, version, live_at) VALUES ('a', 'ios', '2.4', '2020-03-01Z')", nil,
            "on"
        ),
    ]

    @Test(
        "An edit that takes a way out of a lockout says so, whatever it edits, and rule_status says what is so",
        arguments: Trials.some(edits)
    )
    func warns(_ edit: (edit: String, warning: String?, status: String)) async throws {
        let outcome = try await outcome(edit.edit)
        #expect(outcome.status == edit.status)
        if let warning = edit.warning {
            #expect(outcome.warnings.contains { $0.hasPrefix(warning) }, "\(outcome.warnings)")
        } else {
            #expect(outcome.warnings == [])
        }
    }

    /// The warning of the lockout behind the final rule.
    private static func hidden(_ from: String? = nil) -> String {
        #"rule "bad-2.3" is hidden\#(from.map { " from \($0) on" } ?? ""): "#
            + #""all" comes before it, is final and is sent to everybody whom it is for"#
    }

    /// What else there is, an edit of it, and all of its warnings.
    static let laterEdits: [(example: String, edit: String, warnings: [String])] = [
        (
            "UPDATE releases SET min_os = '15' \(newest);", "UPDATE releases SET min_os = '99' \(newest)",
            [lost + "ios (some regions or systems)"]
        ),
        ("UPDATE releases SET min_os = '15' \(newest);", "UPDATE releases SET min_os = '14' \(newest)", []),
        (
            """
            UPDATE releases SET min_os = '15' \(newest);
            INSERT INTO releases (bundle, platform, version, live_at, min_os)
            VALUES ('a', 'ios', '2.4', '2020-03-01Z', '12');
            """, "UPDATE releases SET min_os = '99' \(newest)", []
        ),
        (final(10), "UPDATE rules SET rollout = 100 WHERE key = 'all'", [hidden()]),
        (final(10), "UPDATE rules SET rollout = 99 WHERE key = 'all'", []),
        (final(100), "UPDATE rules SET text = 'y' WHERE key = 'all'", []),
        (final(10), "INSERT INTO rollout_steps VALUES ('all', now(), 100)", [hidden()]),
        (
            final(10), "INSERT INTO rollout_steps VALUES ('all', now(), 10), ('all', '2100-01-01Z', 100)",
            [hidden("2100-01-01T00:00:00Z")]
        ),
        (final(10), "INSERT INTO rollout_steps VALUES ('all', now(), 10), ('all', '2100-01-01Z', 99)", []),
        (
            final(10) + "INSERT INTO rollout_steps VALUES ('all', now(), 10), ('all', '2100-01-01Z', 100);",
            "UPDATE rollout_steps SET at = '2099-01-01Z' WHERE at > now()", [hidden("2099-01-01T00:00:00Z")]
        ),
        (
            final(10) + "INSERT INTO rollout_steps VALUES ('all', now(), 10), ('all', '2100-01-01Z', 100);",
            "UPDATE rollout_steps SET at = '2101-01-01Z' WHERE at > now()", []
        ),
        (
            "INSERT INTO rollout_steps VALUES ('bad-2.3', now() - interval '1 day', 10), ('bad-2.3', '2100-01-01Z', 20);",
            "DELETE FROM rollout_steps; UPDATE rules SET rollout = 0", []
        ),
        (
            "INSERT INTO rollout_steps VALUES ('bad-2.3', now() - interval '1 day', 10);", "DELETE FROM rollout_steps",
            [#"rule "bad-2.3" reaches 0 % of installs now, not 10 %: no other step is left"#]
        ),
        (
            "INSERT INTO rollout_steps VALUES ('bad-2.3', now() - interval '1 day', 10), ('bad-2.3', '2100-01-01Z', 20);",
            "DELETE FROM rollout_steps WHERE at < now(); UPDATE rules SET rollout = 0",
            [
                #"rule "bad-2.3" reaches 0 % of installs now, not 10 %: its next step is to 20 % at 2100-01-01T00:00:00Z"#
            ]
        ),
    ]

    /// A final rule for everybody, before the lockout.
    private static func final(_ rollout: Int) -> String {
        """
        INSERT INTO rules (key, bundle, position, final, enabled, title, text, rollout)
        VALUES ('all', 'a', -1, true, true, 't', 'x', \(rollout));
        """
    }

    @Test("An edit warns of what it takes away, also later, and of nothing else", arguments: Trials.some(laterEdits))
    func warnsOfWhatItTakes(_ case: (example: String, edit: String, warnings: [String])) async throws {
        let outcome = try await outcome(`case`.edit, example: Self.example + `case`.example)
        #expect(outcome.warnings == `case`.warnings)
    }

    @Test("An edit looks closely at those releases of a long history alone that somebody may be offered")
    func looksAtFew() async throws {
        let owner = try await TestDatabase.current.connect()
        try await owner.execute(
            """
            INSERT INTO apps (bundle) VALUES ('a');
            INSERT INTO releases (bundle, platform, version, min_os, regions, live_at)
            SELECT 'a', 'ios', n::text, (10 + n % 4)::text, CASE n % 3 WHEN 0 THEN '{JP}'::text[] WHEN 1 THEN '{US,DE}' END,
                   now() - (400 - n) * interval '1 day'
              FROM generate_series(1, 400) AS n;
            INSERT INTO rules (key, bundle, versions, soak, lockout, enabled, title, text, link)
            SELECT 'r' || n, 'a', '<' || n * 50, n * interval '1 day', true, true, 't', 'x', 'https://a.example'
              FROM generate_series(1, 5) AS n
            """
        )
        for edit in [
            "INSERT INTO releases (bundle, platform, version, live_at) VALUES ('a', 'ios', '401', now())",
            "UPDATE releases SET withdrawn_at = now() WHERE version = '400'",
            "UPDATE rules SET versions = '<40' WHERE key = 'r1'",
        ] {
            // This function is asked of a release once it is known that somebody may be offered it.
            let calls = """
                SELECT coalesce(sum(calls), 0)::int8 FROM pg_stat_xact_user_functions WHERE funcname = 'version_family'
                """
            let looks = try await owner.transaction(
                .readWrite,
                deciding: { session in
                    try session.execute("SET LOCAL track_functions = 'all'; \(edit)")
                    let before = try session.query(calls).value(as: Int64.self)
                    try session.execute("SET CONSTRAINTS ALL IMMEDIATE")
                    return .rollback(try session.query(calls).value(as: Int64.self) - before)
                }
            )
            // 12 kinds of releases, those of the last five days and those beside the greatest, before the edit and after it; all
            // would be 800.
            #expect(looks > 12 && looks <= 100, "\(edit)")
        }
    }

    @Test("An edit that is too large to judge says so, and policy_warnings judges it", arguments: [true, false])
    func saysWhatIsNotJudged(_ isTooLarge: Bool) async throws {
        let warnings = Mutex<[String]>([])
        let owner = try await TestDatabase.current.connect { notice in
            if notice.isWarning { warnings.withLock { $0.append(notice.message) } }
        }
        try await owner.execute(
            """
            INSERT INTO apps (bundle) VALUES ('a');
            INSERT INTO releases (bundle, platform, version, min_os, live_at)
            SELECT 'a', 'ios', n::text, n::text, '2020-01-01Z' FROM generate_series(1, \(isTooLarge ? 200 : 190)) AS n;
            INSERT INTO releases (bundle, platform, version, regions, live_at)
            SELECT 'a', 'ios', '0.1', array_agg(a || b), '2020-01-01Z'
              FROM unnest('{A,B,C,D,E,F,G,H,I,J,K,L,M,N,O,P,Q,R,S,T,U,V,W,X,Y,Z}'::text[]) AS a,
                   unnest('{A,B,C,D,E,F,G,H,I,J,K,L,M,N,O,P,Q,R,S,T,U,V,W,X,Y,Z}'::text[]) AS b
             WHERE versiongate_internal.is_country(a || b)
            HAVING count(*) BETWEEN 249 AND 259;
            INSERT INTO rules (key, bundle, versions, lockout, enabled, title, text, link)
            VALUES ('all', 'a', '<300', false, true, 't', 'x', 'https://a.example');
            INSERT INTO releases (bundle, platform, version) VALUES ('a', 'ios', '301')
            """
        )
        warnings.withLock { $0 = [] }
        try await owner.execute("UPDATE rules SET lockout = true")
        #expect(
            warnings.withLock(\.self) == [
                isTooLarge
                    ? "whether lockouts of a lose a way out was not judged, as that takes too long"
                    : "nobody has a way out of rule \"all\" on ios"
            ]
        )
        let found = try await owner.query("SELECT warning FROM policy_warnings WHERE rule = 'all'")
        #expect(
            try found.map { try $0.decode("warning", as: String.self) } == [
                "nobody has a way out of rule \"all\" on ios"
            ]
        )
    }

    @Test("A lockout that is new and has no way out yet is warned of")
    func warnsOfNewLockouts() async throws {
        let outcome = try await outcome(
            """
            UPDATE rules SET enabled = false; UPDATE releases SET live_at = '2099-01-01Z' \(Self.newest);
            UPDATE rules SET enabled = true
            """
        )
        #expect(outcome.warnings == [Self.lost + "ios until 2099-01-01T00:00:00Z"])
        #expect(outcome.status == "on without lockout: no way out on ios")
    }

    /// Edits, and what policy_warnings says of rules then: the warning, and its detail behind a bar.
    static let warnedOf: [(edit: String, listed: [String])] = [
        ("UPDATE releases SET note = 'n'", []),
        ("UPDATE releases SET withdrawn_at = '2100-01-01Z' \(newest)", [lost + "ios from 2100-01-01T00:00:00Z"]),
        (
            """
            INSERT INTO releases (bundle, platform, version, live_at) VALUES ('a', 'ios', '2.4', '2101-01-01Z');
            UPDATE releases SET withdrawn_at = '2100-01-01Z' \(newest)
            """,
            [lost + "ios from 2100-01-01T00:00:00Z until 2101-01-01T00:00:00Z"]
        ),
        (
            "UPDATE rules SET starts_at = '2100-01-01Z'; UPDATE releases SET staged = true, live_at = NULL \(newest)",
            [lost + "ios from 2100-01-01T00:00:00Z"]
        ),
        ("UPDATE releases SET staged = true, live_at = NULL \(newest)", [lost + "ios"]),
        ("UPDATE releases SET regions = '{US}' \(newest)", [lost + "ios (some regions or systems)"]),
        (final(100), [hidden()]),
        (final(0) + "INSERT INTO rollout_steps VALUES ('all', '2100-01-01Z', 100)", [hidden("2100-01-01T00:00:00Z")]),
        (
            next("2.4", "2 days")
                + "INSERT INTO releases (bundle, platform, version, live_at) VALUES ('a', 'ios', '2.4', '2100-01-01Z')",
            []
        ),
        (next("2.5", nil), [#"rule "next" is waiting|Why: no release reaches 2.5."#]),
        (
            next("2.5", nil)
                + "INSERT INTO releases (bundle, platform, version, staged) VALUES ('a', 'ios', '2.5', true)",
            [#"rule "next" is waiting|Why: 2.5 on ios is staged."#]
        ),
        (
            next("2.5", nil) + "UPDATE rules SET ends_at = '2100-01-01Z' WHERE key = 'next'",
            [#"rule "next" is waiting|Why: no release reaches 2.5."#]
        ),
        ("UPDATE rules SET rollout = 0", [#"rule "bad-2.3" is waiting|Why: its rollout is 0 %."#]),
        ("UPDATE rules SET rollout = 0; INSERT INTO rollout_steps VALUES ('bad-2.3', '2100-01-01Z', 1)", []),
    ]

    /// A rule that asks for a version.
    private static func next(_ target: String, _ soak: String?) -> String {
        """
        INSERT INTO rules (key, bundle, target, soak, enabled, title, text)
        VALUES ('next', 'a', '\(target)', \(soak.map { "'\($0)'" } ?? "NULL"), true, 't', 'x');
        """
    }

    @Test(
        "What the clock takes from a lockout stands in policy_warnings, and nothing that it ends",
        arguments: Trials.some(warnedOf)
    )
    func listsWhatComes(_ case: (edit: String, listed: [String])) async throws {
        let connection = try await TestDatabase.current.connect(user: "versiongate_admin")
        try await connection.execute(Self.example)
        try await connection.execute(`case`.edit)
        let listed = try await connection.query(
            "SELECT concat_ws('|', warning, detail) FROM policy_warnings WHERE rule IS NOT NULL"
        ).map { try $0.decode(0, as: String.self) }
        #expect(listed == `case`.listed)
        await connection.close()
    }

    @Test(
        "Lockouts and releases are looked at one by one, and not each lockout with each release",
        arguments: ["UPDATE releases SET withdrawn_at = now() WHERE version = '9'", "SELECT FROM rule_status"]
    )
    func looksOnce(_ statement: String) async throws {
        let (releases, lockouts) = (60, 300)
        let owner = try await TestDatabase.current.connect()
        try await owner.execute(
            """
            INSERT INTO apps (bundle) VALUES ('a');
            INSERT INTO releases (bundle, platform, version, live_at)
            SELECT 'a', 'ios', number, '2020-01-01Z' FROM generate_series(1, \(releases)) AS number;
            INSERT INTO rules (key, bundle, versions, lockout, enabled, title, text, link)
            SELECT 'r' || number, 'a', number % 50 + 1, true, true, 't', 'x', 'https://a.example'
            FROM generate_series(1, \(lockouts)) AS number
            """
        )
        // Apart from the edit above, whose commit calls many.
        try await owner.execute("SET track_functions = 'all'")
        let calls = "SELECT coalesce(sum(calls), 0)::int8 FROM pg_stat_user_functions"
        let before = try await owner.query(calls).value(as: Int64.self)
        try await owner.execute("\(statement); SELECT pg_stat_force_next_flush()")
        let made = try await owner.query(calls).value(as: Int64.self) - before
        #expect(made > 0)
        // Each with each would be 18,000.
        #expect(made <= Int64(20 * (releases + lockouts)))
    }

    @Test("A release that is recorded again, also with other values, says what was there")
    func saysWhatWasThere() async throws {
        for values in ["'2020-01-01Z', '12', NULL, NULL", "NULL, NULL, '{JP}', NULL", "'2099-01-01Z', NULL, NULL, '7'"]
        {
            let outcome = try await outcome(
                """
                INSERT INTO releases (bundle, platform, version, live_at, min_os, regions, build)
                VALUES ('a', 'ios', '2.3.5', \(values))
                """,
                example: Self.example + "UPDATE releases SET min_os = '16' \(Self.newest);"
            )
            let there = "release 2.3.5 of a on ios was there already: live since 2020-02-01T00:00:00Z, min_os 16"
            #expect(outcome.warnings.contains(there), "\(outcome.warnings)")
            try await TestDatabase.current.connect(user: "versiongate_admin").execute("DELETE FROM apps")
        }
    }

    @Test("A rule that waits for a release says what is in its way, and until when")
    func saysWhatIsAwaited() async throws {
        let example =
            Self.example + """
                INSERT INTO rules (key, bundle, target, soak, enabled, title, text)
                VALUES ('next', 'a', '2.5', '2 days', true, 't', 'x');
                """
        let connection = try await TestDatabase.current.connect(user: "versiongate_admin")
        try await connection.execute(example)
        let release = "INSERT INTO releases (bundle, platform, version, live_at, staged, regions) VALUES ('a', 'ios',"
        for (edit, reason) in [
            ("", "no release reaches 2.5"),
            (
                "\(release) '2.5', '2100-01-01Z', false, NULL)",
                "2.5 on ios is live from 2100-01-01T00:00:00Z on and soaks until 2100-01-03T00:00:00Z"
            ),
            ("UPDATE releases SET live_at = NULL WHERE version = '2.5'", "2.5 on ios has no date"),
            ("UPDATE releases SET staged = true WHERE version = '2.5'", "2.5 on ios is staged"),
            (
                "UPDATE rules SET regions = '{JP}' WHERE key = 'next'; UPDATE releases SET staged = false, regions = '{US}', live_at = '2020-01-01Z' WHERE version = '2.5'",
                "2.5 on ios is not for its regions"
            ),
        ] {
            try await connection.execute(edit)
            let status = try await connection.query(
                "SELECT concat_ws(': ', status, reason) FROM rule_status WHERE key = 'next'"
            ).value(as: String.self)
            #expect(status == "waiting: \(reason)")
        }
    }
}
