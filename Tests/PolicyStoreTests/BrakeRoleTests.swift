import Postgres
import TestDatabase
import TestRandom
import Testing

/// Everything that the role `versiongate_brake` might try, taken from the catalogue, so that nothing new is left out.
@Suite("The role of brakes", .migratedDatabase)
struct BrakeRoleTests {
    private static let ours = "IN ('public'::regnamespace, 'versiongate_internal'::regnamespace)"

    /// What a statement of a brake comes to.
    private static func attempt(_ sql: String, _ brake: PostgresConnection) async throws -> PostgresError? {
        do {
            try await brake.execute(sql)
            return nil
        } catch let error as PostgresError {
            try? await brake.execute("ROLLBACK")
            return error
        }
    }

    @Test("A brake reads each table that a viewer reads, and writes none")
    func tables() async throws {
        let owner = try await TestDatabase.current.connect()
        try await owner.execute(RoleTests.example)
        let before = try await RoleTests.everything(owner)
        let relations = try await owner.query(
            """
            SELECT c.oid::regclass::text, a.attname::text, has_table_privilege('versiongate_viewer', c.oid, 'SELECT')
              FROM pg_class AS c
              JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = 1
             WHERE c.relnamespace \(Self.ours) AND c.relkind IN ('r', 'v') ORDER BY 1
            """
        ).map { try ($0.decode(0, as: String.self), $0.decode(1, as: String.self), $0.decode(2, as: Bool.self)) }
        #expect(relations.count > 25)
        let brake = try await TestDatabase.current.connect(user: "versiongate_brake")
        var could: [String] = []
        for (name, column, isRead) in relations {
            let read = try await Self.attempt("SELECT FROM \(name) LIMIT 1", brake)
            #expect((read == nil) == isRead, "\(name): \(read?.message ?? "")")
            if isRead { could.append(name) }
            for sql in [
                "INSERT INTO \(name) DEFAULT VALUES", "UPDATE \(name) SET \"\(column)\" = \"\(column)\"",
                "DELETE FROM \(name)", "TRUNCATE \(name)", "BEGIN; LOCK TABLE \(name); COMMIT",
                "SELECT FROM \(name) FOR UPDATE", "BEGIN; SELECT rehearse_edits(); DELETE FROM \(name); COMMIT",
            ] {
                let error = try await Self.attempt(sql, brake)
                // PostgreSQL says of some views that nobody can, before it asks who.
                let isRefused = ["42501", "55000", "42809", "0A000", "428C9"].contains(error?.sqlState?.rawValue ?? "")
                #expect(isRefused, "\(sql): \(error?.message ?? "done")")
            }
        }
        for name in try await owner.query(
            "SELECT oid::regclass::text FROM pg_class WHERE relnamespace \(Self.ours) AND relkind = 'S'"
        ).map({ try $0.decode(0, as: String.self) }) {
            for sql in ["SELECT nextval('\(name)')", "SELECT setval('\(name)', 1)", "SELECT FROM \(name)"] {
                #expect(try await Self.attempt(sql, brake)?.sqlState == .insufficientPrivilege, "\(sql)")
            }
        }
        print("A brake tried \(relations.count) tables and views, and could read: \(could.joined(separator: ", "))")
        #expect(try await RoleTests.everything(owner) == before)
    }

    @Test("A brake calls what a viewer calls, its own two functions, and the one that rehearses them")
    func functions() async throws {
        let owner = try await TestDatabase.current.connect()
        let functions = try await owner.query(
            """
            SELECT p.oid::regprocedure::text, has_function_privilege('versiongate_viewer', p.oid, 'EXECUTE'),
                has_function_privilege('versiongate_brake', p.oid, 'EXECUTE')
              FROM pg_proc AS p WHERE p.pronamespace \(Self.ours) ORDER BY 1
            """
        ).map { try ($0.decode(0, as: String.self), $0.decode(1, as: Bool.self), $0.decode(2, as: Bool.self)) }
        #expect(functions.count > 150)
        #expect(
            functions.filter { $0.1 != $0.2 }.map(\.0) == [
                "brake_app(text,text)", "brake_rule(text,text,text)", "rehearse_edits()",
            ]
        )
        let definers = try await owner.query(
            """
            SELECT p.proname::text FROM pg_proc AS p
             WHERE p.pronamespace \(Self.ours) AND p.prosecdef
               AND has_function_privilege('versiongate_brake', p.oid, 'EXECUTE') ORDER BY 1
            """
        ).map { try $0.decode(0, as: String.self) }
        // Those that run with the rights of the owner: what they may do, a brake may.
        #expect(
            definers == [
                "apps_changed_since", "brake_app", "brake_rule", "fuse_status", "history_has", "lockout_shares",
                "rehearse_edits", "rows_at",
            ]
        )
        print("Of \(functions.count) functions a brake may call \(functions.count { $0.2 })")
    }

    @Test("No setting of its session lets a brake edit anything, or do something else by its functions")
    func settings() async throws {
        let owner = try await TestDatabase.current.connect()
        try await owner.execute(
            RoleTests.example + "INSERT INTO rollout_steps VALUES ('k', '2000-01-01Z', 10), ('k', '2126-01-01Z', 50);"
        )
        let settings = try await owner.query(
            """
            SELECT name, unnest(CASE vartype
                    WHEN 'bool' THEN '{on,off}'
                    WHEN 'enum' THEN enumvals
                    WHEN 'string' THEN '{x,"pg_temp, pg_catalog",rules}'
                    ELSE ARRAY[min_val, '1', '1000', max_val] END)
              FROM pg_settings WHERE context = 'user'
            UNION ALL VALUES ('versiongate.consent', 'k'), ('versiongate.taken_back', 'k'), ('versiongate.os_user', 'root'),
                ('role', 'versiongate_admin'), ('session_authorization', 'versiongate_admin')
            """
        ).map { try ($0.decode(0, as: String.self), $0.decode(1, as: String.self)) }
        #expect(settings.count > 400)
        let rows =
            "SELECT string_agg(r::text, ' ') || (SELECT string_agg(s::text, ' ') FROM rollout_steps AS s) FROM rules AS r"
        let before = try await owner.query(rows).value(as: String.self)
        var (taken, held) = (0, 0)
        var random = SeededGenerator()
        let seed = random.seed
        // All of them in a whole run, some by default.
        let tried = settings.filter { _ in Trials.isWhole || random.chance(8) }
        for (name, value) in tried {
            // Some settings end a session soon.
            let brake = try await TestDatabase.current.connect(user: "versiongate_brake")
            let setting = "VERSIONGATE_SEED=\(seed): \(name) = \(value)"
            guard try await Self.attempt("SELECT set_config('\(name)', '\(value)', false)", brake) == nil else {
                await brake.close()
                continue
            }
            taken += 1
            for sql in [
                "UPDATE public.rules SET title = 'z'", "DELETE FROM public.rollout_steps",
                "SELECT public.resume_rule('k')", "SELECT public.undo_change(1)",
            ] {
                let error = try await Self.attempt(sql, brake)
                #expect(error != nil, "\(setting): \(sql)")
            }
            // What it may do, it does whatever the setting, or it fails.
            if try await Self.attempt("SELECT public.brake_rule('k', 'hold', 'test')", brake) == nil {
                let state = try await owner.query(
                    """
                    SELECT concat_ws(' ', c.role, c.tool, c.why, r.held_at IS NOT NULL, r.title, r.enabled)
                      FROM rules AS r, changes AS c ORDER BY c.id DESC LIMIT 1
                    """
                ).value(as: String.self)
                #expect(state == "versiongate_brake brake test t u t", "\(setting)")
                held += 1
                try await owner.execute("SELECT resume_rule('k', held_at) FROM rules")
            }
            #expect(try await owner.query(rows).value(as: String.self) == before, "\(setting)")
            await brake.close()
        }
        print(
            "A brake tried \(tried.count) values of settings, \(taken) were taken, and with \(held) it could hold a rule"
        )
        #expect(held > 0)
    }
}
