package import Logging
package import Postgres

/// Migrates the schema of a database to that of this binary, and compares the two. Each migration is applied in a
/// transaction of its own under one advisory lock, so that several migrators at once apply each file once, and a failure
/// leaves the schema at the last whole step.
package struct SchemaMigrator: Sendable {
    private let migrations: [Migration]
    private let lockTimeout: String
    private let logger: Logger

    /// The key of the advisory lock: "versgate" as eight ASCII bytes.
    private static let advisoryLock: Int64 = 0x7665_7273_6761_7465

    package init(migrations: [Migration] = Migration.all, lockTimeout: String = "10s", logger: Logger) {
        (self.migrations, self.lockTimeout, self.logger) = (migrations, lockTimeout, logger)
    }

    package func status(_ connection: PostgresConnection) async throws -> SchemaStatus {
        try await connection.transaction(.repeatableReadReadOnly) { try status($0) }
    }

    package func faults(_ connection: PostgresConnection) async throws -> [SchemaFault] {
        try await connection.transaction(.repeatableReadReadOnly) { try SchemaFault.all($0) }
    }

    /// All migrations as one script for psql, which leaves an empty database as ``migrate(_:)`` does.
    package var script: String {
        let steps = migrations.map { migration in
            """
            -- \(migration.name).sql

            \(migration.sql)
            INSERT INTO versiongate_internal.schema_migrations (name, checksum)
                VALUES ('\(migration.name)', '\(migration.checksum)');

            """
        }
        return """
            -- The schema of versiongate. On an empty database, all of it or nothing:
            -- versiongate migrate --print | psql --no-psqlrc DATABASE

            \\set ON_ERROR_STOP on
            BEGIN;

            \(Self.bookkeeping)

            \(steps.joined(separator: "\n"))
            COMMIT;

            """
    }

    @discardableResult
    package func migrate(_ connection: PostgresConnection) async throws -> [String] {
        var applied: [String] = []
        while let name = try await applyNext(connection) {
            logger.notice("Applied a migration", metadata: ["migration": "\(name)"])
            applied.append(name)
        }
        return applied
    }

    private func applyNext(_ connection: PostgresConnection) async throws -> String? {
        try await connection.transaction(.readWrite) { session in
            try session.setTimeouts(lock: lockTimeout, statement: "0")
            try takeLock(session)
            let status = try status(session)
            guard status.unknown.isEmpty else { throw SchemaError.newer(unknown: status.unknown) }
            let dangers = try SchemaFault.all(session).filter(\.isDangerous)
            guard dangers.isEmpty else { throw SchemaError.unsafe(dangers) }
            guard let next = status.pending.first else { return nil }
            try session.execute(Self.bookkeeping)
            try session.execute(next.sql)
            try session.query(
                "INSERT INTO versiongate_internal.schema_migrations (name, checksum) VALUES ($1, $2)",
                [next.name, next.checksum]
            )
            return next.name
        }
    }

    /// Takes the lock that migrators hold until their end. Any role may take it, so the error names who holds it.
    private func takeLock(_ session: PostgresSession) throws {
        let isFree = try session.query("SELECT pg_try_advisory_xact_lock($1)", [Self.advisoryLock])
        guard try !isFree.value(as: Bool.self) else { return }
        let holder = try session.query(Self.holder, [Self.advisoryLock]).value(as: String?.self)
        do {
            try session.query("SELECT pg_advisory_xact_lock($1)", [Self.advisoryLock])
        } catch {
            guard error.sqlState == .lockNotAvailable else { throw error }
            throw SchemaError.locked(by: holder ?? "it cannot be seen who")
        }
    }

    private static let holder = """
        SELECT string_agg(concat_ws(', ', 'process ' || l.pid, 'role ' || a.usename, nullif(a.application_name, '')), '; ')
          FROM pg_locks AS l LEFT JOIN pg_stat_activity AS a ON a.pid = l.pid
         WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1
           AND l.database = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database())
           AND (l.classid::bigint << 32) + l.objid::bigint = $1
        """

    /// Only the owner of the database may create the schema, or whoever has CREATE on it.
    private static let bookkeeping = """
        DO $$
        BEGIN
            IF to_regnamespace('versiongate_internal') IS NULL THEN
                CREATE SCHEMA versiongate_internal;
            END IF;
        EXCEPTION
            WHEN insufficient_privilege THEN
                RAISE insufficient_privilege USING
                    MESSAGE = format('%s may not create a schema in the database %I', current_user, current_database()),
                    HINT = format(
                        'Let the owner of the database run this, then migrate again: GRANT CREATE ON DATABASE %I TO %I;',
                        current_database(), current_user
                    );
        END
        $$;
        CREATE TABLE IF NOT EXISTS versiongate_internal.schema_migrations (
            name text COLLATE "C" CONSTRAINT schema_migrations_pkey PRIMARY KEY,
            checksum text NOT NULL,
            applied_at timestamptz NOT NULL DEFAULT now()
        );
        COMMENT ON TABLE versiongate_internal.schema_migrations IS
            'Which files of Migrations/ were applied, in the order of their names; written by versiongate migrate.';
        COMMENT ON COLUMN versiongate_internal.schema_migrations.name IS 'The file, without its ending.';
        COMMENT ON COLUMN versiongate_internal.schema_migrations.checksum IS 'SHA-256 of the file, as it was applied.';
        COMMENT ON COLUMN versiongate_internal.schema_migrations.applied_at IS 'When it was applied.';
        """

    /// Throws ``SchemaError`` if an applied migration is changed, missing or misplaced.
    package func status(_ session: PostgresSession) throws -> SchemaStatus {
        let isRecorded = "SELECT to_regclass('versiongate_internal.schema_migrations') IS NOT NULL"
        guard try session.query(isRecorded).value() else {
            let hasTables = "SELECT to_regclass('public.policy_revision') IS NOT NULL"
            guard try !session.query(hasTables).value() else { throw SchemaError.unrecorded }
            return SchemaStatus(applied: [], pending: migrations, unknown: [])
        }
        let applied: [(name: String, checksum: String)] = try session.query(
            "SELECT name, checksum FROM versiongate_internal.schema_migrations ORDER BY name"
        ).map { (try $0.decode(0), try $0.decode(1)) }
        for (known, applied) in zip(migrations, applied) {
            guard known.name == applied.name else {
                throw SchemaError.misplaced(applied: applied.name, expected: known.name)
            }
            guard known.checksum == applied.checksum else { throw SchemaError.changed(name: known.name) }
        }
        return SchemaStatus(
            applied: Array(migrations.prefix(applied.count)), pending: Array(migrations.dropFirst(applied.count)),
            unknown: applied.dropFirst(migrations.count).map(\.name)
        )
    }
}
