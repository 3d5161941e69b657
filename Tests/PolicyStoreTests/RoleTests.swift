import Postgres
import TestDatabase
import Testing

@Suite("Roles", .migratedDatabase)
struct RoleTests {
    static let example = """
        INSERT INTO apps (bundle) VALUES ('a');
        INSERT INTO releases (bundle, platform, version, live_at) VALUES ('a', 'ios', '1.2', '2026-03-01T12:00Z');
        INSERT INTO rules (key, bundle, title, text, versions, enabled) VALUES ('k', 'a', 't', 'x', '<1.2', true);
        UPDATE rules SET title = 'u';
        """

    @Test(
        "The roles may not do what they need not, and PostgreSQL says so",
        arguments: [
            ("versiongate_server", RoleAttempt.ofReaders + RoleAttempt.ofViewers + RoleAttempt.ofServer),
            ("versiongate_viewer", RoleAttempt.ofReaders + RoleAttempt.ofPeople + RoleAttempt.ofViewers),
            ("versiongate_brake", RoleAttempt.ofReaders + RoleAttempt.ofPeople + RoleAttempt.ofBrakes),
            (
                "versiongate_planner",
                RoleAttempt.ofPeople + RoleAttempt.ofEditors + [
                    RoleAttempt("SELECT end_open_edits()", "permission denied for function end_open_edits"),
                    RoleAttempt("SET ROLE versiongate_admin", "permission denied to set role \"versiongate_admin\""),
                ]
            ),
            ("versiongate_admin", RoleAttempt.ofPeople + RoleAttempt.ofEditors),
        ]
    )
    func areRefused(role: String, more: [RoleAttempt]) async throws {
        let attempts = RoleAttempt.ofAll + more
        let owner = try await TestDatabase.current.connect()
        try await owner.execute(Self.example + "SELECT lo_from_bytea(4711, 'secret');")
        let process = try await owner.query("SELECT pg_backend_pid()").value(as: Int.self)
        let before = try await Self.everything(owner)
        let connection = try await TestDatabase.current.connect(user: role)
        try await connection.execute("CREATE TEMPORARY TABLE rules (LIKE public.rules)")
        for attempt in attempts {
            let sql = attempt.sql.replacing("{owner}", with: "\(process)")
            let comment: Comment = "\(role): \(sql)"
            let error = await #expect(throws: PostgresError.self, comment) { try await connection.execute(sql) }
            try await connection.execute("ROLLBACK")
            #expect(error?.sqlState?.rawValue == attempt.sqlState, comment)
            let message = error?.message ?? ""
            #expect(attempt.messages.contains(where: message.hasPrefix), "\(comment): \(message)")
        }
        #expect(try await Self.everything(owner) == before)
    }

    @Test("The roles can do what they are for: the server reads the policy and writes counts")
    func serverCounts() async throws {
        try await TestDatabase.current.connect().execute(Self.example)
        let server = try await TestDatabase.current.connect(user: "versiongate_server")
        for table in [
            "apps", "store_links", "feed_templates", "releases", "release_notes", "rules", "rule_texts",
            "rollout_steps",
            "policy_revision", "versiongate_internal.schema_reader", "versiongate_internal.schema_migrations",
            "versiongate_internal.server_sightings", "schema_faults()",
        ] {
            try await server.execute("SELECT * FROM \(table)")
        }
        try await server.execute(
            """
            INSERT INTO check_counts VALUES ('2026-03-01T12:00Z', 'a', 'ios', '1', NULL, NULL, NULL, 3, 2, 1)
                ON CONFLICT ON CONSTRAINT check_counts_key DO UPDATE SET checks = check_counts.checks + excluded.checks;
            INSERT INTO rule_counts VALUES ('2026-03-01T12:00Z', 'k', 2, 1)
                ON CONFLICT (hour, rule) DO UPDATE SET sent = rule_counts.sent + excluded.sent;
            DELETE FROM check_counts; DELETE FROM rule_counts;
            LISTEN versiongate;
            """
        )
        try await server.query("SELECT versiongate_internal.note_server('s:1', 1)")
    }

    @Test("The roles can do what they are for: viewers read the policy, the history and the counts", arguments: people)
    func peopleRead(role: String) async throws {
        try await TestDatabase.current.connect().execute(Self.example)
        let person = try await TestDatabase.current.connect(user: role)
        for name in [
            "apps", "store_links", "feed_templates", "releases", "release_notes", "rules", "rule_texts",
            "rollout_steps",
            "policy_revision", "changes", "change_rows", "check_counts", "rule_counts", "merged_counts", "active_rules",
            "rule_status", "policy_warnings", "current_releases", "recent_checks", "history",
            "rows_at(NULL::rules, 0)", "schema_faults()", "versiongate_internal.schema_migrations",
        ] {
            try await person.execute("SELECT * FROM \(name)")
        }
        let messages = try await person.query(#"SELECT title FROM messages_for('{"bundle": "a", "version": "1.1"}')"#)
        #expect(try messages.value(as: String.self) == "u")
    }

    static let people = ["versiongate_viewer", "versiongate_brake", "versiongate_planner", "versiongate_admin"]

    @Test("The roles can do what they are for: planners see what an edit comes to, judged as at its commit")
    func plannersRehearse() async throws {
        let owner = try await TestDatabase.current.connect()
        try await owner.execute(Self.example)
        let before = try await Self.everything(owner)
        let planner = try await TestDatabase.current.connect(user: "versiongate_planner")
        let (number, edits) = try await planner.transaction(
            .readWrite,
            deciding: { session in
                try session.execute("UPDATE rules SET title = 'v'")
                _ = try session.query("SELECT rehearse_edits()")
                try session.execute("UPDATE rules SET title = 'w'")
                let number = try session.query("SELECT rehearse_edits()").value(as: Int64.self)
                return .rollback(
                    (number, try session.query("SELECT edits FROM history LIMIT 1").value(as: String.self))
                )
            }
        )
        #expect(number == 2)
        #expect(edits == "rules k: title u -> w")
        let refusal = await #expect(throws: PostgresError.self) {
            try await planner.execute(
                "BEGIN; UPDATE rules SET lockout = true, versions = '<2'; SELECT rehearse_edits()"
            )
        }
        #expect(refusal?.constraint == "rules_lockout_guard")
        try await planner.execute("ROLLBACK")
        #expect(try await Self.everything(owner) == before)

        let admin = try await TestDatabase.current.connect(user: "versiongate_admin")
        try await admin.execute("BEGIN; UPDATE rules SET title = 'v'; SELECT rehearse_edits(); COMMIT")
        #expect(try await owner.query("SELECT title FROM rules").value(as: String.self) == "v")
        #expect(try await owner.query("SELECT is_rehearsal FROM policy_revision").value(as: Bool.self) == false)
    }

    @Test(
        "The roles of planners and brakes let go soon of what they hold, unless they say otherwise",
        arguments: ["versiongate_planner", "versiongate_brake"]
    )
    func areBounded(role: String) async throws {
        let shown = try await TestDatabase.current.psql(
            "SHOW idle_in_transaction_session_timeout; SHOW lock_timeout",
            user: role
        )
        #expect(shown.output == "1min\n10s\n")
    }

    @Test("The roles can do what they are for: admins edit the policy, read the history and the counts, and undo")
    func adminEdits() async throws {
        let admin = try await TestDatabase.current.connect(user: "versiongate_admin")
        try await admin.execute(Self.example)
        for name in [
            "changes", "change_rows", "check_counts", "rule_counts", "rule_status", "policy_warnings", "active_rules",
            "current_releases", "recent_checks", "history", "rows_at(NULL::rules, 0)",
        ] {
            try await admin.execute("SELECT * FROM \(name)")
        }
        try await admin.execute("DELETE FROM apps")
        #expect(try await admin.query("SELECT max(id) FROM changes").value(as: Int.self) == 2)
        try await admin.execute("SELECT undo_change(2)")
        #expect(try await admin.query("SELECT title FROM rules").value(as: String.self) == "u")
    }

    @Test("The roles are recorded as who logged in, whatever a session says of itself")
    func recordsTheSessionUser() async throws {
        let owner = try await TestDatabase.current.connect()
        try await owner.execute("CREATE ROLE test_alice LOGIN IN ROLE versiongate_admin")
        let alice = try await TestDatabase.current.connect(user: "test_alice")
        try await alice.execute(
            """
            SET versiongate.os_user = 'root'; SET versiongate.role = 'versiongate'; SET role = versiongate_admin;
            SET application_name = 'versiongate'; SET versiongate.why = 'because';
            INSERT INTO apps (bundle) VALUES ('a');
            """
        )
        let change = try await owner.query("SELECT concat_ws(' ', role, os_user, tool, why) FROM changes")
        #expect(try change.value(as: String.self) == "test_alice root versiongate because")
        for column in ["os_user", "tool"] {
            let comment = try await owner.query(
                """
                SELECT col_description('changes'::regclass, attnum) FROM pg_attribute
                 WHERE attrelid = 'changes'::regclass AND attname = $1
                """,
                [column]
            )
            #expect(try comment.value(as: String.self).contains("a claim, not verified"))
        }
        await alice.close()
        try await owner.execute("DROP ROLE test_alice")
    }

    /// Objects and settings that would mislead functions which looked at them.
    static let traps = """
        CREATE TEMPORARY TABLE apps (LIKE public.apps);
        CREATE TEMPORARY TABLE releases (LIKE public.releases);
        CREATE TEMPORARY TABLE rules (LIKE public.rules);
        CREATE TEMPORARY TABLE changes (LIKE public.changes);
        CREATE TEMPORARY TABLE policy_revision (revision bigint, token uuid, xid xid8, at timestamptz);
        CREATE TEMPORARY TABLE edited_rows (xid xid8, at timestamptz, table_name text, key jsonb, is_there boolean);
        INSERT INTO pg_temp.releases (id, bundle, platform, version, live_at, staged)
            VALUES (1, 'a', 'ios', '99', '2026-01-01T00:00Z', false);
        CREATE DOMAIN pg_temp.checking_client AS text;
        CREATE FUNCTION pg_temp.version_key(text) RETURNS bytea LANGUAGE sql AS 'SELECT $1::bytea';
        CREATE FUNCTION pg_temp.note_edit() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
        CREATE FUNCTION pg_temp.lower(text) RETURNS text LANGUAGE sql AS 'SELECT ''''::text';
        CREATE FUNCTION pg_temp.refuse(text, text, text, text, text) RETURNS boolean LANGUAGE sql AS 'SELECT true';
        CREATE FUNCTION pg_temp.never(bytea, bytea) RETURNS boolean LANGUAGE sql AS 'SELECT false';
        CREATE OPERATOR pg_temp.< (LEFTARG = bytea, RIGHTARG = bytea, FUNCTION = pg_temp.never);
        SET search_path = pg_temp, public, pg_catalog;
        SET standard_conforming_strings = off;
        SET escape_string_warning = off;
        SET transform_null_equals = on;
        SET TimeZone = 'Asia/Kathmandu';
        SET DateStyle = 'German';
        SET IntervalStyle = 'sql_standard';
        SET quote_all_identifiers = on;
        SET extra_float_digits = -15;
        SET bytea_output = 'escape';
        """

    @Test("The roles cannot mislead the guards by objects in pg_temp or by settings")
    func areNotMisled() async throws {
        let owner = try await TestDatabase.current.connect()
        try await owner.execute(
            Self.example + "UPDATE rules SET rollout = 37.25, soak = '36 hours', starts_at = '2026-03-01T12:00:00.5Z'"
        )
        let admin = try await TestDatabase.current.connect(user: "versiongate_admin")
        try await admin.execute(Self.traps)
        let refusals = [
            ("UPDATE public.rules SET versions = '1|2'", "rules_versions_check"),
            ("UPDATE public.rules SET versions = '1.2-1.4'", "rules_versions_check"),
            ("UPDATE public.rules SET regions = '{Japan}'", "rules_regions_check"),
            ("INSERT INTO public.apps (bundle) VALUES ('a b')", "apps_bundle_check"),
            ("INSERT INTO public.apps (bundle) VALUES ('A')", "apps_bundle_key"),
            (
                "INSERT INTO public.releases (bundle, platform, version) VALUES ('a', 'ios', '1|2')",
                "releases_version_check"
            ),
            (
                "INSERT INTO public.releases (bundle, platform, version) VALUES ('a', 'ios', '1.2.0')",
                "releases_version_guard"
            ),
            ("UPDATE public.rules SET lockout = true, versions = '<2'", "rules_lockout_guard"),

            ("UPDATE public.rules SET title = E'a\\tb'", "rules_title_check"),
        ]
        for (sql, constraint) in refusals {
            let error = await #expect(throws: PostgresError.self, "\(sql)") { try await admin.execute(sql) }
            #expect(error?.constraint == constraint, "\(sql): \(error?.message ?? "")")
        }

        // What is recorded, rebuilt and answered is what an ordinary session gets.
        try await admin.execute("UPDATE public.rules SET title = 'v'")
        try await admin.execute("DELETE FROM public.rules")
        let deletion = try await owner.query("SELECT max(id) FROM changes").value(as: Int64.self)
        try await admin.query("SELECT public.undo_change($1)", [deletion])
        let ask = """
            SELECT concat_ws('; ',
                (SELECT string_agg(concat_ws(' ', key, outcome, condition, expected, release), ', ')
                   FROM public.explain_check('{"bundle": "A", "version": "1.1", "platform": "ios"}', '2026-03-01T12:00:01Z')),
                public.version_compare('1.9', '1.10'),
                (SELECT token IS NOT NULL FROM public.policy_revision))
            """
        let expected = "k no match rollout bucket < 3725; -1; t"
        #expect(try await owner.query(ask).value(as: String.self) == expected)
        #expect(try await admin.query(ask).value(as: String.self) == expected)
        let records = try await owner.query(
            """
            SELECT (SELECT to_jsonb(r) FROM rules AS r) = (SELECT before FROM change_rows WHERE change = $1),
                (SELECT before ->> 'soak' FROM change_rows WHERE change = $1),
                (SELECT before ->> 'starts_at' FROM change_rows WHERE change = $1)
            """,
            [deletion]
        )
        #expect(try records[0].decode(0, as: Bool.self))
        #expect(try records[0].decode(1, as: String.self) == "1 day 12:00:00")
        #expect(try records[0].decode(2, as: String.self) == "2026-03-01T12:00:00.5+00:00")
        let titles = "SELECT string_agg(title, ' ' ORDER BY key) FROM public.rows_at(NULL::public.rules, $1)"
        #expect(try await admin.query(titles, [deletion - 1]).value(as: String.self) == "v")
    }

    @Test("The roles cannot keep an edit out of the history by any setting of its constraints, savepoints or isolation")
    func areAlwaysRecorded() async throws {
        let admin = try await TestDatabase.current.connect(user: "versiongate_admin")
        try await admin.execute("INSERT INTO rules (key, title, text) VALUES ('k', '0', 'x')")
        let scripts = [
            "SET CONSTRAINTS ALL IMMEDIATE; UPDATE rules SET title = $; SET CONSTRAINTS ALL DEFERRED",
            "SET CONSTRAINTS versiongate_internal.record_edits IMMEDIATE; UPDATE rules SET title = 'z'; UPDATE rules SET title = $",
            "UPDATE rules SET title = 'z'; SAVEPOINT s; UPDATE rules SET title = 'y'; ROLLBACK TO s; UPDATE rules SET title = $",
            "SAVEPOINT s; UPDATE rules SET title = $; RELEASE s",
            "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE; UPDATE rules SET title = $",
            "DO 'BEGIN UPDATE rules SET title = ''z''; EXCEPTION WHEN OTHERS THEN NULL; END'; UPDATE rules SET title = $",
            "DELETE FROM rules; INSERT INTO rules (key, title, text) VALUES ('k', $, 'x')",
            "SET LOCAL versiongate.os_user = ''; SET LOCAL application_name = ''; UPDATE rules SET title = $",
        ]
        for (number, script) in scripts.enumerated() {
            try await admin.execute("BEGIN; \(script.replacing("$", with: "'\(number + 1)'")); COMMIT")
            let recorded = try await admin.query(
                """
                SELECT concat_ws(' ', c.id, r.before ->> 'title', r.after ->> 'title')
                  FROM changes AS c JOIN change_rows AS r ON r.change = c.id ORDER BY c.id DESC LIMIT 1
                """
            )
            #expect(try recorded.value(as: String.self) == "\(number + 2) \(number) \(number + 1)", "\(script)")
        }
    }

    /// All that the roles could harm, as one text.
    static func everything(_ owner: PostgresConnection) async throws -> String {
        try await owner.query(
            """
            SELECT concat_ws(E'\\n',
                (SELECT string_agg(t::text, ', ' ORDER BY t::text) FROM apps AS t),
                (SELECT string_agg(t::text, ', ' ORDER BY t::text) FROM releases AS t),
                (SELECT string_agg(t::text, ', ' ORDER BY t::text) FROM rules AS t),
                (SELECT string_agg(t::text, ', ' ORDER BY t::text) FROM policy_revision AS t),
                (SELECT string_agg(t::text, ', ' ORDER BY t::text) FROM changes AS t),
                (SELECT string_agg(t::text, ', ' ORDER BY t::text) FROM change_rows AS t),
                (SELECT string_agg(t::text, ', ' ORDER BY t::text) FROM versiongate_internal.schema_migrations AS t),
                (SELECT string_agg(relname || coalesce(relacl::text, ''), ', ' ORDER BY relname) FROM pg_class
                  WHERE relnamespace::regnamespace::text IN ('public', 'versiongate_internal')),
                (SELECT string_agg(md5(prosrc) || coalesce(proacl::text, '') || proconfig::text, ', ' ORDER BY oid) FROM pg_proc
                  WHERE pronamespace::regnamespace::text IN ('public', 'versiongate_internal')),
                (SELECT string_agg(r::text, ', ' ORDER BY rolname) FROM pg_roles AS r
                  WHERE rolname LIKE 'versiongate%' OR rolname = 'z'))
            """
        ).value(as: String.self)
    }
}
