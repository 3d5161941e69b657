import Postgres
import TestDatabase
import Testing

/// What every test with a migrated database relies on.
@Suite("Warm databases")
struct WarmDatabaseTests {
    @Test("Each test finds the rows, settings and sessions of a new database, whatever the one before it left")
    func isAsNew() async throws {
        for _ in 1...8 {
            try await WarmDatabase.with { warm in
                let connection = try await warm.database.connect()
                let found = try await connection.query(
                    """
                    SELECT concat_ws(
                        ' ', (SELECT count(*) FROM apps), (SELECT revision FROM policy_revision),
                        current_setting('lock_timeout'), (SELECT count(*) FROM pg_listening_channels()),
                        to_regclass('stray'), (SELECT count(*) FROM pg_locks JOIN pg_database AS d ON d.oid = database
                                                WHERE locktype = 'advisory' AND datname = current_database())
                    )
                    """
                ).value(as: String.self)
                #expect(found == "0 0 10s 0 0")
                #expect(try await warm.psql("admin").answer("SHOW timezone") == "UTC\n")
                try await connection.execute("INSERT INTO apps (bundle) VALUES ('com.example.doto')")
                _ = try await warm.psql("admin").answer("SET timezone = 'Asia/Tokyo'; BEGIN; DELETE FROM apps")
                try await connection.execute(
                    """
                    SET lock_timeout = '1s'; LISTEN stray; CREATE TEMP TABLE stray (); SELECT pg_advisory_lock(1)
                    """
                )
            }
        }
    }

    @Test(
        "A database in which more than rows was changed is used no more",
        arguments: [
            "CREATE TABLE stray ()", "ALTER TABLE rules ALTER title SET DEFAULT 'x'",
            "REVOKE SELECT ON rules FROM versiongate_viewer", "ALTER TABLE rules DISABLE TRIGGER USER",
            "CREATE FUNCTION stray() RETURNS int LANGUAGE sql AS 'SELECT 1'",
        ]
    )
    func isUsedNoMore(change: String) async throws {
        let name = try await WarmDatabase.with { warm in
            try await warm.database.connect().execute(change)
            return warm.database.name
        }
        for _ in 1...8 { try await WarmDatabase.with { warm in #expect(warm.database.name != name) } }
    }
}
