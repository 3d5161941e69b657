package import Logging
package import Postgres
import PrivatePostgres
import Synchronization

/// A migrated database that one test uses after the other, and whose sessions stay open, so that each test finds the
/// functions compiled that the ones before it called.
///
/// Each test finds the rows of a new database. Where a test changes anything but rows, such as a table, a function or a
/// setting of the database, its database is used no more. Roles belong to the whole server and are not put back.
package final class WarmDatabase: Sendable {
    /// The database.
    package let database: TestDatabase
    private let consoles = Mutex<[String: PsqlSession]>([:])
    private let sessions: WarmSessions
    private static let free = Mutex<[WarmDatabase]>([])

    /// That of the running test.
    @TaskLocal static var ofThisTest: WarmDatabase?

    private init(_ database: TestDatabase) {
        self.database = database
        sessions = WarmSessions(database)
    }

    /// Runs `body` with a database that nothing else uses meanwhile.
    package static func with<Result>(_ body: (WarmDatabase) async throws -> Result) async throws -> Result {
        let warm = try await next()
        let result: Swift.Result<Result, any Error>
        do {
            result = .success(
                try await TestDatabase.$ofThisTest.withValue(warm.database) {
                    try await $ofThisTest.withValue(warm) { try await body(warm) }
                }
            )
            free.withLock { $0.append(warm) }
        } catch {
            result = .failure(error)
            warm.drop()
        }
        return try result.get()
    }

    private static func next() async throws -> WarmDatabase {
        while let one = free.withLock({ $0.popLast() }) {
            if (try? await one.reset()) != nil { return one }
            one.drop()
        }
        let warm = WarmDatabase(try await TestServer.shared.value.createDatabase(isMigrated: true))
        let answer = try await warm.psql("owner").answer(keeping)
        guard answer.isEmpty else { throw CompanionError("a database cannot be kept: \(answer)") }
        return warm
    }

    private func drop() {
        for console in consoles.withLock({ Array($0.values) }) { try? console.hangUp() }
        let sessions = sessions
        Task { await sessions.close() }
        database.server.dropDatabase(database)
    }

    /// The psql of a role: `owner`, the superuser; `alice`, `bob` or `carol`, who may log in once a test has made them; or
    /// what follows `versiongate_` in the name of a role.
    package func psql(_ role: String) throws -> PsqlSession {
        let user =
            switch role {
            case "owner": PrivatePostgres.superuser
            case "alice", "bob", "carol": "test_\(role)"
            default: "versiongate_\(role)"
            }
        if let console = consoles.withLock({ $0[role] }) { return console }
        let console = try PsqlSession(database, user: user)
        consoles.withLock { $0[role] = console }
        return console
    }

    /// A session of a role, which the test may close, or leave open for another test.
    func connect(
        user: String, onNotice: (@Sendable (PostgresNotice) -> Void)?
    ) async throws -> PostgresConnection {
        try await sessions.lend(user, onNotice).connection
    }

    /// Opens the sessions of a command on the database of the running test: those that are open already, if there are any.
    package static let openSession: CommandSession = { configuration, logger, onNotice in
        if let warm = ofThisTest, let user = warm.user(of: configuration) {
            let session = try await warm.sessions.lend(user, onNotice)
            return (session.connection, { await warm.sessions.takeBack(session) })
        }
        let connection = try await PostgresConnection.connect(configuration, logger: logger, onNotice: onNotice)
        return (connection, { await connection.close() })
    }

    /// As `CommandContext.OpenSession`.
    package typealias CommandSession =
        @Sendable (
            PostgresConfiguration, Logger, (@Sendable (PostgresNotice) -> Void)?
        ) async throws -> (connection: PostgresConnection, end: @Sendable () async -> Void)

    /// As whom a configuration connects to this database; nil if it is another database, or has settings of its own.
    private func user(of configuration: PostgresConfiguration) -> String? {
        guard configuration.overrides.isEmpty else { return nil }
        if configuration.connectionString == "service=\(TestDatabase.service)" { return "versiongate_admin" }
        return ["admin", "viewer", "server", "planner", "brake"].map { "versiongate_\($0)" }
            .first { database.url(user: $0) == configuration.connectionString }
    }

    /// Makes the rows those of a new database, ends open transactions and takes settings of sessions back.
    private func reset() async throws {
        for (role, console) in consoles.withLock({ $0 }) {
            // What the owner keeps is in temporary tables.
            _ = try await console.answer(role == "owner" ? Self.calming : Self.calming + " DISCARD TEMP;")
        }
        await sessions.takeBackAll()
        let processes = sessions.processIDs + consoles.withLock { $0.values.compactMap(\.processID) }
        let answer = try await psql("owner").answer(
            "\\set kept '\(processes.map(String.init).joined(separator: ","))'\n\(Self.restoring)"
        )
        guard answer.isEmpty else { throw CompanionError("a database cannot be put back: \(answer)") }
    }

    private static let calming = """
        \\set VERBOSITY default
        ROLLBACK; RESET SESSION AUTHORIZATION; RESET ALL; UNLISTEN *; DEALLOCATE ALL;
        """

    /// How many rows each catalog has of what is kept, and the last transaction that wrote one of them.
    private static let catalogs = """
        SELECT 'class' AS name, count(*), max(xmin::text::bigint) FROM pg_class WHERE relpersistence = 'p'
         UNION ALL
        SELECT 'attribute', count(*), max(a.xmin::text::bigint)
          FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid WHERE c.relpersistence = 'p'
         UNION ALL
        SELECT 'proc', count(*), max(xmin::text::bigint) FROM pg_proc
         UNION ALL
        SELECT 'trigger', count(*), max(xmin::text::bigint) FROM pg_trigger
         UNION ALL
        SELECT 'constraint', count(*), max(xmin::text::bigint) FROM pg_constraint
         UNION ALL
        SELECT 'enum', count(*), max(xmin::text::bigint) FROM pg_enum
         UNION ALL
        SELECT 'namespace', count(*), max(xmin::text::bigint) FROM pg_namespace WHERE nspname !~ '^pg_(toast_)?temp_'
         UNION ALL
        SELECT 'database', count(*), max(xmin::text::bigint) FROM pg_database WHERE datname = current_database()
         UNION ALL
        SELECT 'setting', count(*), max(s.xmin::text::bigint)
          FROM pg_db_role_setting AS s JOIN pg_database AS d ON d.oid = s.setdatabase
         WHERE datname = current_database()
        """

    /// The rows of a new database, and where its sequences begin, in tables that only this session sees.
    private static let keeping = """
        CREATE TEMP TABLE kept AS
            SELECT oid::regclass AS place, format('kept_%s', oid) AS name, relkind FROM pg_class
            WHERE relkind IN ('r', 'S') AND relpersistence = 'p'
              AND relnamespace IN ('public'::regnamespace, 'versiongate_internal'::regnamespace);
        SELECT 'VACUUM ' || string_agg(place::text, ', ') FROM kept WHERE relkind = 'r' \\gexec
        DO $$
        DECLARE
            one record;
        BEGIN
            FOR one IN SELECT * FROM kept WHERE relkind = 'r' LOOP
                EXECUTE format('CREATE TEMP TABLE %I AS TABLE %s', one.name, one.place);
            END LOOP;
        END $$;
        CREATE TEMP TABLE kept_catalogs AS \(catalogs);
        """

    /// Deletes what is not in a new database, puts back what is, and compares each table. The space of what was deleted is
    /// given back, so that plans, and the order of rows, are the same whatever was there before.
    private static let restoring = """
        SET client_min_messages = error;
        WITH strange AS MATERIALIZED (
            SELECT pid FROM pg_stat_activity
             WHERE datname = current_database() AND pid <> ALL (string_to_array(:'kept', ',')::int[])
        )
        SELECT FROM strange WHERE NOT pg_terminate_backend(pid, 10000);
        RESET client_min_messages;
        SELECT 'the ' || name || ' catalog has changed' FROM (\(catalogs) EXCEPT TABLE kept_catalogs) AS changed;
        BEGIN;
        SET LOCAL session_replication_role = replica;
        DO $$
        DECLARE
            one record;
            differs bool;
        BEGIN
            FOR one IN
                SELECT * FROM kept
                 WHERE relkind = 'r' AND (pg_relation_size(place) > 0 OR pg_relation_size(to_regclass(name)) > 0)
            LOOP
                EXECUTE format('DELETE FROM %s', one.place);
                EXECUTE format('INSERT INTO %s OVERRIDING SYSTEM VALUE SELECT * FROM %I', one.place, one.name);
                EXECUTE format(
                    'SELECT EXISTS (TABLE %1$s EXCEPT ALL TABLE %2$I) OR EXISTS (TABLE %2$I EXCEPT ALL TABLE %1$s)',
                    one.place, one.name
                ) INTO differs;
                IF differs THEN
                    RAISE EXCEPTION 'the rows of % differ from those of a new database', one.place;
                END IF;
            END LOOP;
            PERFORM setval(k.place, s.start_value, false)
               FROM kept AS k JOIN pg_sequences AS s ON format('%I.%I', schemaname, sequencename)::regclass = k.place
              WHERE s.last_value IS NOT NULL;
        END $$;
        COMMIT;
        SELECT 'VACUUM ' || string_agg(place::text, ', ') FROM kept
         WHERE relkind = 'r' AND pg_relation_size(place) > 0 \\gexec
        SELECT FROM kept WHERE false;
        """
}
