import Postgres
import Synchronization
import TestDatabase
import TestRandom
import Testing
import UpdatePolicy

/// The cases of the contract that are about writing: what is refused, kept, recorded and undone.
@Suite("Semantic edits", .migratedDatabase)
struct SemanticEditTests {
    /// An edit that must be refused.
    struct Refusal: Sendable {
        let row: Int
        let sql: String
        let hint: String

        init(_ row: Int, rule column: String, _ value: String, hint: String = "") {
            self.row = row
            sql = "INSERT INTO rules (key, title, text, \(column)) VALUES ('r', 't', 'x', \(value))"
            self.hint = hint
        }

        init(_ row: Int, _ sql: String, hint: String = "") {
            self.row = row
            self.sql = sql
            self.hint = hint
        }
    }

    static let refusals = [
        Refusal(16, rule: "regions", "'{Japan}'"), Refusal(16, rule: "regions", "'{jp}'", hint: "JP"),
        Refusal(16, rule: "regions", "'{UK}'", hint: "GB"), Refusal(16, rule: "regions", "'{EN}'"),
        Refusal(20, rule: "platforms", "'{}'", hint: "NULL means no condition"),
        Refusal(20, rule: "platforms", "'{NULL}'", hint: "means no condition"),
        Refusal(20, rule: "platforms", "'{{ios},{android}}'", hint: "NULL means no condition"),
        Refusal(20, rule: "attributes", "'{}'", hint: "NULL means no condition"),
        Refusal(20, rule: "attributes", "'null'", hint: "NULL means no condition"),
        Refusal(20, rule: "attributes", "'{\"a\":[]}'", hint: "NULL means no condition"),
        Refusal(20, rule: "attributes", "'{\"install\":[\"x\"]}'", hint: "NULL means no condition"),
        Refusal(20, rule: "rollout", "NULL", hint: "NULL means no condition"),
        Refusal(27, rule: "rollout", "99.996"), Refusal(27, rule: "rollout", "33.335"),
        Refusal(27, rule: "rollout", "101"),
        Refusal(27, rule: "rollout", "-1"), Refusal(27, rule: "rollout", "'NaN'"),
        Refusal(29, rule: "starts_at, ends_at", "'2026-03-01T12:00Z', '2026-03-01T12:00Z'"),
        Refusal(29, rule: "starts_at", "'infinity'", hint: "NULL"), Refusal(30, rule: "soak", "'1 month'"),
        Refusal(30, rule: "soak", "'-1 day'"), Refusal(37, "TRUNCATE rules CASCADE", hint: "DELETE"),
        Refusal(40, "INSERT INTO rules (key, title, text) VALUES ('r', '{target}', 'x')"),
    ]

    @Test("Rows 16, 20, 27, 29, 30, 37 and 40: Wrong writes are refused with a hint")
    func refuses() async throws {
        let connection = try await TestDatabase.current.connect()
        for refusal in Self.refusals {
            let comment: Comment = "row \(refusal.row): \(refusal.sql)"
            let error = await #expect(throws: PostgresError.self, comment) { try await connection.execute(refusal.sql) }
            #expect(error?.hint?.contains(refusal.hint) == true, comment)
        }
    }

    @Test("Row 22: Languages are stored in today's form, so an old code beside it is a duplicate")
    func languages() async throws {
        let connection = try await database()
        try await connection.execute(
            """
            INSERT INTO rules (key, bundle, title, text, languages)
            VALUES ('r', 'com.example.doto', 't', 'x', '{iw,HE-il,zh-TW,zh-Hant-TW,no,*}');
            INSERT INTO rule_texts VALUES ('r', 'he', 't', 'x'), ('r', 'zh-cn', 't', 'x'), ('r', 'mo-MD', 't', 'x');
            INSERT INTO releases (bundle, platform, version) VALUES ('com.example.doto', 'ios', '1');
            INSERT INTO release_notes SELECT id, 'tl', 'x' FROM releases
            """
        )
        let stored = try await connection.query(
            """
            SELECT languages || ARRAY(SELECT language FROM rule_texts ORDER BY language)
                || ARRAY(SELECT language FROM release_notes) FROM rules
            """
        )
        #expect(
            try stored.value(as: [String].self)
                == ["he", "HE-il", "zh-Hant-TW", "nb", "*", "he", "ro-MD", "zh-Hans-cn", "fil"]
        )
        for language in ["iw", "IW", "HE", "zh-Hans-CN"] {
            let error = await #expect(throws: PostgresError.self) {
                try await connection.query("INSERT INTO rule_texts VALUES ('r', $1, 't', 'x')", [language])
            }
            #expect(error?.sqlState?.isIntegrityViolation == true, "\(language)")
        }
    }

    @Test("Row 17: A bundle is stored as the app spells it")
    func bundle() async throws {
        let connection = try await database()
        try await connection.execute(
            "INSERT INTO rules (key, bundle, title, text) VALUES ('r', 'COM.example.doto', 't', 'x')"
        )
        #expect(try await connection.query("SELECT bundle FROM rules").value(as: String.self) == "com.example.doto")
    }

    @Test("Row 28: The first step sets the rollout to 0, with a warning, and no other is set beside steps")
    func rolloutWithSteps() async throws {
        let warnings = Mutex<[String]>([])
        let connection = try await database { notice in warnings.withLock { $0.append(notice.message) } }
        try await connection.execute(
            """
            INSERT INTO rules (key, bundle, enabled, title, text, rollout)
            VALUES ('r', 'com.example.doto', true, 't', 'x', 5)
            """
        )
        try await connection.execute(
            "INSERT INTO rollout_steps VALUES ('r', '2126-03-01T13:00Z', 25), ('r', '2126-03-01T14:00Z', 100)"
        )
        #expect(
            warnings.withLock(\.self) == [
                "rule \"r\" reaches 0 % of installs now, not 5 %: its next step is to 25 % at 2126-03-01T13:00:00Z"
            ]
        )
        #expect(try await connection.query("SELECT rollout::text FROM rules").value(as: String.self) == "0")
        #expect(try await connection.query("SELECT count(*) FROM changes").value(as: Int.self) == 3)
        let shares = try await connection.query(
            """
            SELECT array_agg(rollout_at('r', at)::text)
            FROM unnest(
                '{2126-03-01T12:00Z,2126-03-01T12:59:59.999999Z,2126-03-01T13:00Z,2126-03-01T14:00Z}'::timestamptz[]
            ) AS at
            """
        )
        #expect(try shares.value(as: [String].self) == ["0", "0", "25", "100"])
        let error = await #expect(throws: PostgresError.self) {
            try await connection.execute("UPDATE rules SET rollout = 7")
        }
        #expect(error?.constraint == "rules_rollout_guard")
        #expect(error?.hint?.contains("DELETE FROM rollout_steps") == true)
        try await connection.execute("BEGIN; UPDATE rules SET rollout = 7; DELETE FROM rollout_steps; COMMIT")
        #expect(try await share(connection, "r") == "7")
    }

    /// Edits of the steps of a lockout that stands at 10 %, the share and the warnings after it.
    static let stepEdits: [(edit: String, share: String, warnings: [String])] = [
        (
            "DELETE FROM rollout_steps WHERE at < now()", "0",
            ["rule \"lk\" reaches 0 % of installs now, not 10 %: its next step is to 50 % at 2126-01-01T00:00:00Z"]
        ),
        (
            "DELETE FROM rollout_steps", "0",
            ["rule \"lk\" reaches 0 % of installs now, not 10 %: no other step is left"]
        ),
        (
            "UPDATE rollout_steps SET at = at + interval '100 years'", "0",
            ["rule \"lk\" reaches 0 % of installs now, not 10 %: its next step is to 10 % at 2100-01-01T00:00:00Z"]
        ),
        ("UPDATE rollout_steps SET at = at + interval '1 day' WHERE at > now()", "10", []),
        ("BEGIN; DELETE FROM rollout_steps; UPDATE rules SET rollout = 5; COMMIT", "5", []),
    ]

    @Test(
        "Row 44: No edit of steps raises what a rule reaches; an undo brings the share back",
        arguments: Trials.some(stepEdits)
    )
    func stepsNeverRaise(_ edit: (edit: String, share: String, warnings: [String])) async throws {
        let warnings = Mutex<[String]>([])
        let connection = try await database { notice in warnings.withLock { $0.append(notice.message) } }
        try await connection.execute(
            """
            INSERT INTO store_links VALUES ('com.example.doto', 'ios', 'https://example.com');
            INSERT INTO releases (bundle, platform, version, live_at) VALUES ('com.example.doto', 'ios', '2', '2000-01-01Z');
            INSERT INTO rules (key, bundle, versions, lockout, title, text, link, enabled, rollout)
            VALUES ('lk', 'com.example.doto', '<2', true, 't', 'x', 'store', true, 3);
            INSERT INTO rollout_steps VALUES ('lk', '2000-01-01Z', 10), ('lk', '2126-01-01Z', 50);
            """
        )
        #expect(warnings.withLock(\.self) == [])
        #expect(try await share(connection, "lk") == "10")
        try await connection.execute(edit.edit)
        #expect(try await share(connection, "lk") == edit.share)
        #expect(warnings.withLock(\.self) == edit.warnings)
        try await connection.query("SELECT undo_change($1)", [try await revision(connection)])
        #expect(try await share(connection, "lk") == "10")
        #expect(try await connection.query("SELECT rollout::text FROM rules").value(as: String.self) == "0")
    }

    @Test("An undo that would leave a rule a percentage beside later steps is refused, and names them")
    func undoBesideSteps() async throws {
        let connection = try await database()
        try await connection.execute(
            "INSERT INTO rules (key, bundle, title, text, rollout) VALUES ('r', 'com.example.doto', 't', 'x', 5)"
        )
        try await connection.execute("INSERT INTO rollout_steps VALUES ('r', '2126-01-01Z', 50)")
        let first = try await revision(connection)
        try await connection.execute("INSERT INTO rollout_steps VALUES ('r', '2126-01-02Z', 60)")
        let error = await #expect(throws: PostgresError.self) {
            try await connection.query("SELECT undo_change($1)", [first])
        }
        #expect(error?.detail == "rule r: has got rollout step r 2126-01-02T00:00:00Z by change \(first + 1)")
    }

    /// Lockouts for everybody, and whether they need consent.
    static let lockouts: [(columns: String, values: String, needsConsent: Bool)] = [
        ("bundle, lockout_without_update, ends_at", "'com.example.doto', true, now() + interval '2 hours'", false),
        ("bundle, lockout_without_update, ends_at", "'com.example.doto', true, now() + interval '7 days'", false),
        ("bundle, lockout_without_update, ends_at", "'com.example.doto', true, now() + interval '8 days'", true),
        ("bundle, lockout_without_update", "'com.example.doto', true", true),
        ("lockout_without_update, ends_at", "true, now() + interval '2 hours'", true), ("versions", "'<2'", true),
        ("bundle, versions", "'com.example.doto', '<2'", false),
    ]

    @Test(
        "Row 45: A lockout of everybody needs consent, and what was so before needs none",
        arguments: Trials.some(lockouts)
    )
    func needsConsent(_ lockout: (columns: String, values: String, needsConsent: Bool)) async throws {
        let connection = try await database()
        try await connection.execute(
            "INSERT INTO releases (bundle, platform, version, live_at) VALUES ('com.example.doto', 'ios', '2', '2000-01-01Z')"
        )
        let insertion = """
            INSERT INTO rules (key, title, text, lockout, enabled, \(lockout.columns))
            VALUES ('r', 't', 'x', true, true, \(lockout.values));
            """
        if lockout.needsConsent {
            let error = await #expect(throws: PostgresError.self) { try await connection.execute(insertion) }
            #expect(error?.constraint == "lockout_needs_consent")
            #expect(error?.hint?.contains("SET LOCAL versiongate.consent = 'r';") == true)
            #expect(error?.hint?.contains("SELECT set_config('versiongate.consent', 'r', false);") == true)
        }
        try await connection.execute("BEGIN; SET LOCAL versiongate.consent = 'q, r'; \(insertion) COMMIT")
        try await connection.execute("UPDATE rules SET title = 'u'")
        try await connection.execute("DELETE FROM rules")
        try await connection.query("SELECT undo_change($1)", [try await revision(connection)])
        #expect(try await connection.query("SELECT enabled FROM rules").value(as: Bool.self))
    }

    /// Edits of a lockout for every app that has been consented to, and whether they need consent anew.
    static let laterEdits: [(edit: String, needsConsent: Bool)] = [
        ("UPDATE rules SET regions = '{DE}'", false), ("UPDATE rules SET regions = '{DE,AT,CH}'", true),
        ("UPDATE rules SET regions = NULL", true), ("UPDATE rules SET versions = '<3'", true),
        ("UPDATE rules SET os = '<10'", false), ("UPDATE rules SET rollout = 49", false),
        ("UPDATE rules SET rollout = 51", true), ("UPDATE rules SET ends_at = ends_at - interval '1 hour'", false),
        ("UPDATE rules SET ends_at = NULL", true), ("UPDATE rules SET lockout_without_update = true", true),
        ("UPDATE rules SET lockout = false", false), ("UPDATE rules SET bundle = 'com.example.doto'", false),
        ("UPDATE rules SET position = 7, link = 'https://example.com', final = true, note = 'n'", false),
        ("INSERT INTO rollout_steps VALUES ('r', now(), 50)", false),
        ("INSERT INTO rollout_steps VALUES ('r', '2126-01-01Z', 60)", true),
        ("INSERT INTO rollout_steps VALUES ('r', '2126-01-01Z', 50)", false),
        ("UPDATE apps SET bundle = upper(bundle)", false),
    ]

    @Test(
        "Only an edit that makes a lockout of everybody wider asks for consent again",
        arguments: Trials.some(laterEdits)
    )
    func needsConsentAgain(_ edit: (edit: String, needsConsent: Bool)) async throws {
        let connection = try await database()
        try await connection.execute(
            """
            INSERT INTO releases (bundle, platform, version, live_at) VALUES ('com.example.doto', 'ios', '2', '2000-01-01Z');
            BEGIN; SET LOCAL versiongate.consent = 'r';
            INSERT INTO rules (key, title, text, lockout, enabled, versions, regions, rollout, ends_at)
            VALUES ('r', 't', 'x', true, true, '<2', '{DE,AT}', 50, '2126-01-01Z');
            COMMIT;
            """
        )
        if edit.needsConsent {
            let error = await #expect(throws: PostgresError.self) { try await connection.execute(edit.edit) }
            #expect(error?.constraint == "lockout_needs_consent")
        } else {
            try await connection.execute(edit.edit)
        }
    }

    @Test("An edit of a condition that nobody has told the guard of asks for consent again")
    func needsConsentForNewConditions() async throws {
        let connection = try await database()
        try await connection.execute(
            """
            ALTER TABLE rules ADD COLUMN device text;
            BEGIN; SET LOCAL versiongate.consent = 'r';
            INSERT INTO rules (key, title, text, lockout, lockout_without_update, enabled, device)
            VALUES ('r', 't', 'x', true, true, true, 'phone');
            COMMIT;
            """
        )
        for edit in ["'tablet'", "NULL"] {
            let error = await #expect(throws: PostgresError.self) {
                try await connection.execute("UPDATE rules SET device = \(edit)")
            }
            #expect(error?.constraint == "lockout_needs_consent")
        }
    }

    /// Builds for several processors, when the last of them went live, and the warning of a lockout of the first.
    static let processors: [(last: String, warning: String?)] = [
        (
            "2026-03-01T12:59Z",
            "rule \"r\" locks out 1.2.0 (1012) of com.example.doto on android, which went live less than a day before the"
                + " way out of it, 1.2.0 (4012)"
        ),
        (
            "2026-03-01T11:59Z",
            "rule \"r\" locks out 1.2.0 (1012) of com.example.doto on android, which went live after the way out of it,"
                + " 1.2.0 (4012)"
        ),
        ("2026-03-02T12:00Z", nil), ("2026-03-03T12:00Z", nil),
    ]

    @Test("Row 54: A lockout of what went live with its way out is warned of", arguments: Trials.some(processors))
    func waysOutBeside(_ build: (last: String, warning: String?)) async throws {
        let warnings = Mutex<[String]>([])
        let connection = try await database { notice in warnings.withLock { $0.append(notice.message) } }
        try await connection.execute(
            """
            INSERT INTO store_links VALUES ('com.example.doto', 'android', 'https://example.com');
            INSERT INTO releases (bundle, platform, version, build, live_at) VALUES
                ('com.example.doto', 'android', '1.2.0', '1011', '2026-02-01Z'),
                ('com.example.doto', 'android', '1.2.0', '1012', '2026-03-01T12:00Z'),
                ('com.example.doto', 'android', '1.2.0', '2012', '2026-03-01T12:30Z'),
                ('com.example.doto', 'android', '1.2.0', '4012', '\(build.last)');
            INSERT INTO rules (key, bundle, title, text, link, versions, builds, lockout)
            VALUES ('r', 'com.example.doto', 't', 'x', 'store', '1.2.0', '<2012', true);
            """
        )
        warnings.withLock { $0 = [] }
        let expected = build.warning.map { [$0] } ?? []
        try await connection.execute("UPDATE rules SET enabled = true")
        #expect(warnings.withLock(\.self) == expected)
        try await connection.execute(
            "UPDATE rules SET title = 'u', rollout = 50; UPDATE releases SET note = 'n' WHERE id = 1"
        )
        #expect(warnings.withLock(\.self) == expected)
        let rows = try await connection.query(
            "SELECT warning FROM policy_warnings WHERE warning LIKE '%way out of it%'"
        )
        #expect(try rows.map { try $0.decode(0, as: String.self) } == expected)
    }

    @Test("Row 55: A release that nobody is ever offered is warned of, and one that some can have is not")
    func neverOffered() async throws {
        let warnings = Mutex<[String]>([])
        let connection = try await database { notice in warnings.withLock { $0.append(notice.message) } }
        let releases: [(platform: String, values: String, greater: String?)] = [
            ("ios", "'4.9', '15', NULL, '2026-01-01Z', NULL", nil),
            ("ios", "'4.9u4', '15', NULL, '2026-02-01Z', NULL", "4.9"),
            ("ios", "'4.8.1', '13', NULL, '2026-03-01Z', NULL", nil),
            ("ios", "'4.8.2', '15', '{JP}', '2026-03-02Z', NULL", "4.9"),
            ("ios", "'4.8.0', '15', NULL, '2025-12-01Z', NULL", nil),
            ("web", "'2025.01.0201', NULL, NULL, '2026-01-01Z', NULL", nil),
            ("web", "'2025.01.03', NULL, NULL, '2026-02-01Z', NULL", "2025.01.0201"),
            ("tvos", "'2026.8.1', NULL, '{US}', '2026-01-01Z', NULL", nil),
            ("tvos", "'3.0.0', NULL, NULL, '2026-02-01Z', NULL", nil),
            ("tvos", "'3.0.1', NULL, '{US}', '2026-02-01Z', NULL", "2026.8.1"),
            ("linux", "'2.0', NULL, NULL, '2026-01-01Z', '2026-02-01Z'", nil),
            ("linux", "'1.9', NULL, NULL, '2026-01-02Z', NULL", nil),
        ]
        for release in releases {
            warnings.withLock { $0 = [] }
            try await connection.execute(
                """
                INSERT INTO releases (bundle, platform, version, min_os, regions, live_at, withdrawn_at)
                VALUES ('com.example.doto', '\(release.platform)', \(release.values))
                """
            )
            let said = warnings.withLock { $0.filter { $0.contains("never offered") } }
            #expect(said.count == (release.greater == nil ? 0 : 1), "\(release): \(said)")
            if let greater = release.greater {
                #expect(said.first?.contains(": \(greater) is greater") == true, "\(said)")
            }
        }
        let rows = try await connection.query(
            "SELECT count(*) FROM policy_warnings WHERE warning LIKE '%is never offered%'"
        )
        #expect(try rows.value(as: Int.self) == releases.count { $0.greater != nil })
        warnings.withLock { $0 = [] }
        // What brings it about may be another release, and what was so before is not said again.
        try await connection.execute(
            """
            INSERT INTO releases (bundle, platform, version, live_at) VALUES ('com.example.doto', 'linux', '1.9.1', '2026-01-01Z')
            """
        )
        #expect(
            warnings.withLock(\.self) == [
                "release 1.9 of com.example.doto on linux is never offered: 1.9.1 is greater, and was there before it"
            ]
        )
    }

    @Test("Row 36: A lockout is turned on only where there is a version to go to")
    func lockoutGuard() async throws {
        let connection = try await database()
        let lockout =
            "INSERT INTO rules (key, bundle, title, text, versions, lockout, enabled)"
            + " VALUES ('r', 'com.example.doto', 't', 'x', '<1.2', true, "
        try await refused(connection, lockout + "true)")
        try await connection.execute(lockout + "false)")
        try await refused(connection, "UPDATE rules SET enabled = true")
        try await connection.execute(
            """
            BEGIN;
            UPDATE rules SET enabled = true;
            INSERT INTO releases (bundle, platform, version) VALUES ('com.example.doto', 'ios', '1.2');
            COMMIT;
            UPDATE releases SET withdrawn_at = '2026-01-01T00:00Z';
            UPDATE rules SET title = 'u';
            UPDATE rules SET rollout = 50;
            """
        )
        try await refused(connection, "UPDATE rules SET versions = '<1.1'")
        try await connection.execute("UPDATE rules SET enabled = false")
    }

    private func refused(_ connection: PostgresConnection, _ sql: String) async throws {
        let error = await #expect(throws: PostgresError.self) { try await connection.execute(sql) }
        #expect(error?.constraint == "rules_lockout_guard")
    }

    @Test("Row 37: A transaction makes one revision, and none where it changes nothing")
    func revisions() async throws {
        let connection = try await database()
        try await connection.execute(
            "INSERT INTO rules (key, bundle, title, text) VALUES ('r', 'com.example.doto', 't', 'x')"
        )
        let edits: [(sql: String, revisions: Int)] = [
            ("BEGIN; UPDATE rules SET title = 'a'; UPDATE rules SET text = 'b'; UPDATE apps SET name = 'c'; COMMIT", 1),
            ("UPDATE rules SET title = 'z' WHERE false", 0), ("UPDATE rules SET title = title", 0),
            ("BEGIN; UPDATE rules SET title = 'd'; ROLLBACK", 0),
            (
                """
                BEGIN; UPDATE rules SET title = 'e'; SAVEPOINT s; UPDATE rules SET text = 'f'; ROLLBACK TO s; COMMIT
                """, 1
            ),
        ]
        for edit in edits {
            let before = try await revision(connection)
            try await connection.execute(edit.sql)
            #expect(try await revision(connection) == before + edit.revisions, "\(edit.sql)")
        }
        let last = try await connection.query(
            "SELECT after ->> 'title', after ->> 'text' FROM change_rows WHERE change = (SELECT max(id) FROM changes)"
        )
        #expect(last.count == 1)
        #expect(try last.first?.decode(0, as: String.self) == "e")
        #expect(try last.first?.decode(1, as: String.self) == "b")
    }

    @Test("Row 38: An undo takes back one change and no other, once")
    func undo() async throws {
        let connection = try await database()
        try await connection.execute(
            "INSERT INTO rules (key, bundle, title, text, rollout) VALUES ('r', 'com.example.doto', 't', 'x', 10)"
        )
        try await connection.execute("UPDATE rules SET rollout = 20")
        let change = try await revision(connection)
        try await connection.execute("UPDATE rules SET title = 'u'")
        try await connection.query("SELECT undo_change($1)", [change])
        let undo = try await revision(connection)
        #expect(try await rule(connection) == "10 u")
        let error = await #expect(throws: PostgresError.self) {
            try await connection.query("SELECT undo_change($1)", [change])
        }
        #expect(error?.sqlState?.rawValue == "55000")
        try await connection.query("SELECT undo_change($1)", [undo])
        #expect(try await rule(connection) == "20 u")
    }

    @Test("Row 38: An undone deletion brings texts and steps back, whatever the sessions' settings")
    func undoDeletion() async throws {
        let connection = try await database()
        try await connection.execute(
            """
            SET TimeZone = 'Asia/Tokyo';
            INSERT INTO rules (key, bundle, title, text, soak, starts_at)
            VALUES ('r', 'com.example.doto', 't', 'x', '36 hours', '2026-03-01T12:00:00.000001Z');
            INSERT INTO rule_texts VALUES ('r', 'de', 't', 'x');
            INSERT INTO rollout_steps VALUES ('r', '2026-03-08T02:30Z', 37.25);
            """
        )
        let before = try await rows(connection)
        try await connection.execute("DELETE FROM rules")
        let deletion = try await revision(connection)
        try await connection.execute("SET TimeZone = 'America/New_York'; SET IntervalStyle = iso_8601")
        try await connection.query("SELECT undo_change($1)", [deletion])
        let undo = try await revision(connection)
        try await connection.execute("SET TimeZone = 'Asia/Tokyo'; RESET IntervalStyle")
        #expect(try await rows(connection) == before)
        try await connection.query("SELECT undo_change($1)", [undo])
        let left = try await connection.query(
            """
            SELECT (SELECT count(*) FROM rules) + (SELECT count(*) FROM rule_texts)
                + (SELECT count(*) FROM rollout_steps)
            """
        )
        #expect(try left.value(as: Int.self) == 0)
    }

    private func share(_ connection: PostgresConnection, _ rule: String) async throws -> String {
        try await connection.query("SELECT rollout_at($1, now())::text", [rule]).value(as: String.self)
    }

    private func database(
        onNotice: (@Sendable (PostgresNotice) -> Void)? = nil
    ) async throws -> PostgresConnection {
        let connection = try await TestDatabase.current.connect(onNotice: onNotice)
        try await connection.execute("INSERT INTO apps (bundle) VALUES ('com.example.doto')")
        return connection
    }

    private func revision(_ connection: PostgresConnection) async throws -> Int {
        try await connection.query("SELECT revision FROM policy_revision").value(as: Int.self)
    }

    private func rule(_ connection: PostgresConnection) async throws -> String {
        try await connection.query("SELECT rollout || ' ' || title FROM rules").value(as: String.self)
    }

    private func rows(_ connection: PostgresConnection) async throws -> String {
        try await connection.query(
            """
            SELECT concat_ws(E'\\n', (SELECT r::text FROM rules AS r), (SELECT t::text FROM rule_texts AS t),
                (SELECT s::text FROM rollout_steps AS s))
            """
        ).value(as: String.self)
    }
}
