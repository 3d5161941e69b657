import Foundation
import TestDatabase
import Testing

@Suite("Stats command", .migratedDatabase)
struct StatsCommandTests {
    private var versiongate: BuiltBinary { BuiltBinary(.current) }

    /// 1.1 is replaced by 1.2, which was live 50 hours ago and reached half of the checks on iOS 23 hours later.
    private func prepare() async throws {
        try await TestDatabase.current.edit(
            """
            INSERT INTO apps (bundle) VALUES ('com.example.Doto'), ('b');
            INSERT INTO releases (bundle, platform, version, live_at) VALUES
                ('com.example.Doto', 'ios', '1.1', now() - interval '100 days'),
                ('com.example.Doto', 'ios', '1.2', date_trunc('hour', now()) - interval '50 hours'),
                ('com.example.Doto', 'android', '1.2', date_trunc('hour', now()) - interval '50 hours');
            """
        )
        let hour = "date_trunc('hour', now())"
        try await TestDatabase.current.addCounts(
            """
            (\(hour) - interval '72 hours', 'com.example.Doto', 'ios', '1.1', 100, 50, 10),
            (\(hour) - interval '45 hours', 'com.example.Doto', 'ios', '1.1', 60, 0, 0),
            (\(hour) - interval '45 hours', 'com.example.Doto', 'ios', '1.2', 40, 0, 0),
            (\(hour) - interval '27 hours', 'com.example.Doto', 'ios', '1.2.0', 60, 0, 0),
            (\(hour) - interval '27 hours', 'com.example.Doto', 'ios', '1.1', 40, 0, 0),
            (\(hour), 'com.example.Doto', 'ios', '1.2', 30, 0, 0),
            (\(hour), 'com.example.Doto', 'ios', '1.1', 10, 0, 0),
            (\(hour), 'com.example.Doto', 'android', NULL, 60, 0, 0),
            (\(hour), 'b', 'ios', '9', 1000, 0, 0)
            """
        )
    }

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

    @Test("Statistics say how fast versions spread, and their charts fit")
    func table() async throws {
        try await prepare()
        let result = try await versiongate.succeed("stats COM.example.doto")
        let output = result
        #expect(output.contains("It reached 50 % after 23 h, and has not reached 90 % yet."), "\(output)")
        #expect(output.contains("1.1 before it reached 50 % before the first count"), "\(output)")
        #expect(output.contains("It has not reached 50 % yet."), "\(output)")
        for question in [
            "Which versions are in use?", "How fast does 1.2 spread on iOS?", "How fast does 1.2 spread on Android?",
            "How many checks get a message, and how many are locked out?", "Which systems do the clients have?",
            "Where are the clients?",
        ] { #expect(output.contains(question), "\(output)") }
        #expect(output.contains("change 1: added 2 apps"), "\(output)")
        #expect(output.split(separator: "\n").filter { $0.contains("####") }.allSatisfy { $0.count <= 80 })
        #expect(!output.contains("\u{1B}"))
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

    @Test("Statistics of one day are those of its hours, with the local time of each")
    func hours() async throws {
        try await prepare()
        let output = try await versiongate.run("stats com.example.Doto --days 1").output
        #expect(output.contains("com.example.Doto: 100 checks in the last 24 hours"), "\(output)")
        #expect(output.contains("HOUR FROM"), "\(output)")
    }
}
