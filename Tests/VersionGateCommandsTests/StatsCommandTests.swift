import Foundation
import TestDatabase
import Testing

/// The rest is in `Tests/Cases/commands/stats.case`.
@Suite("Stats command", .migratedDatabase)
struct StatsCommandTests {
    private var versiongate: BuiltBinary { BuiltBinary(.current) }

    @Test("Statistics end at the clock of the database, as those of impact do, wherever that of this machine stands")
    func clockOfTheDatabase() async throws {
        try await TestDatabase.current.edit("INSERT INTO apps (bundle) VALUES ('a')")
        try await TestDatabase.current.addCounts("(now() + interval '3 days', 'a', 'ios', '1.0', 7, 0, 0)")
        _ = try await TestDatabase.current.psql(
            """
            SET allow_system_table_mods = on;
            ALTER FUNCTION pg_catalog.clock_timestamp() RENAME TO true_clock;
            CREATE FUNCTION pg_catalog.clock_timestamp() RETURNS timestamptz LANGUAGE sql
                AS $$ SELECT pg_catalog.true_clock() + interval '3 days' $$;
            """
        )
        let result = try await versiongate.run("stats a --days 1")
        #expect(result.output.hasPrefix("a: 7 checks in the last "), "\(result.output)\(result.errors)")
    }

    @Test("Statistics of many days take days together so that the chart fits")
    func manyDays() async throws {
        try await TestDatabase.current.edit("INSERT INTO apps (bundle) VALUES ('a')")
        let result = try await TestDatabase.current.psql(
            """
            INSERT INTO check_counts (hour, bundle, platform, version, checks, messages, lockouts)
            SELECT date_trunc('day', now(), 'UTC') - day * interval '1 day', 'a', 'ios', '1.' || day % 9, 10, 0, 0
            FROM generate_series(0, 89) AS day
            """,
            user: "versiongate_server"
        )
        #expect(result.isSuccess, "\(result.errors)")
        let output = try await versiongate.run("stats a --days 90").output
        let versions = output.split(separator: "Which versions are in use?")[1].split(separator: "PLATFORM")[0]
        #expect((20...31).contains(versions.split(separator: "\n").count { $0.hasPrefix("20") }), "\(output)")
        #expect(output.contains("- others"))
    }
}
