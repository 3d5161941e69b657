import Dispatch
import Foundation
import PrivatePostgres
import Synchronization

/// A migrated database whose sessions stay open from one test to the next, so that each finds its functions compiled.
///
/// After each test its rows are those of a new database. Roles, tables, functions and settings are not put back.
public final class WarmDatabase: Sendable {
    /// The database.
    public let database: TestDatabase
    private let sessions = Mutex<[String: PsqlSession]>([:])
    private static let free = Mutex<[WarmDatabase]>([])

    private init(_ database: TestDatabase) {
        self.database = database
    }

    /// Runs `body` with a database that nothing else uses meanwhile.
    public static func with<Result>(_ body: (WarmDatabase) async throws -> Result) async throws -> Result {
        let warm: WarmDatabase
        if let one = free.withLock({ $0.popLast() }) {
            warm = one
        } else {
            warm = WarmDatabase(try await TestServer.shared.value.createDatabase(isMigrated: true))
            _ = try await warm.psql("owner").answer(keeping)
        }
        // One in which something failed is used no more.
        let result = try await TestDatabase.$ofThisTest.withValue(warm.database) { try await body(warm) }
        free.withLock { $0.append(warm) }
        return result
    }

    /// The psql of a role: `owner`, the superuser; `alice`, `bob` or `carol`, who may log in once a test has made them; or
    /// what follows `versiongate_` in the name of a role.
    public func psql(_ role: String) throws -> PsqlSession {
        let user =
            switch role {
            case "owner": PrivatePostgres.superuser
            case "alice", "bob", "carol": "test_\(role)"
            default: "versiongate_\(role)"
            }
        if let session = sessions.withLock({ $0[role] }) { return session }
        let session = try PsqlSession(database, user: user)
        sessions.withLock { $0[role] = session }
        return session
    }

    /// Makes the rows those of a new database, ends open transactions and takes settings of sessions back.
    public func reset() async throws {
        for session in sessions.withLock({ Array($0.values) }) { _ = try await session.answer(Self.calming) }
        let answer = try await psql("owner").answer(Self.restoring)
        guard answer.isEmpty else { throw CompanionError("a database cannot be put back: \(answer)") }
    }

    private static let calming = """
        \\set VERBOSITY default
        ROLLBACK; RESET SESSION AUTHORIZATION; RESET ALL;
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
        """

    /// Deletes what is not in a new database, puts back what is, and compares each table. The space of what was deleted is
    /// given back, so that plans, and the order of rows, are the same whatever was there before.
    private static let restoring = """
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
