import Postgres
import TestDatabase
import TestRandom
import Testing

/// Every setting that the role `versiongate_brake` might try, taken from the catalogue, so that nothing new is left out.
@Suite("The role of brakes", .migratedDatabase)
struct BrakeRoleTests {
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

    @Test("No setting of its session lets a brake edit anything, or do something else by its functions")
    func settings() async throws {
        let owner = try await TestDatabase.current.connect()
        try await owner.execute(
            """
            INSERT INTO rules (key, title, text, versions, enabled) VALUES ('k', 't', 'x', '<1.2', true);
            UPDATE rules SET title = 'u';
            INSERT INTO rollout_steps VALUES ('k', '2000-01-01Z', 10), ('k', '2126-01-01Z', 50);
            """
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
        let tried = settings.filter { _ in Trials.areLong || random.chance(8) }
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
