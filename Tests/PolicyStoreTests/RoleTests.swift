import Postgres

/// What tests of roles begin with, and look at in the end; what the roles may do is in `Tests/Cases/sql`.
enum RoleTests {
    static let example = """
        INSERT INTO apps (bundle) VALUES ('a');
        INSERT INTO releases (bundle, platform, version, live_at) VALUES ('a', 'ios', '1.2', '2026-03-01T12:00Z');
        INSERT INTO rules (key, bundle, title, text, versions, enabled) VALUES ('k', 'a', 't', 'x', '<1.2', true);
        UPDATE rules SET title = 'u';
        """

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
