import Foundation
import Postgres
import TestDatabase
import TestSystem
import Testing
import UpdatePolicy

@testable import PolicyStore

@Suite("Schema migrator", .database)
struct SchemaMigratorTests {
    private static let steps = [
        Migration(name: "0001_a", sql: "CREATE TABLE a (n int);"),
        Migration(name: "0002_b", sql: "CREATE TABLE b (n int); INSERT INTO b VALUES (1);"),
        Migration(name: "0003_c", sql: "CREATE TABLE c (n int);"),
    ]

    private func migrator(_ steps: [Migration]) -> SchemaMigrator {
        SchemaMigrator(migrations: steps, logger: TestDatabase.logger)
    }

    @Test("Migrations in the binary are the files of the folder, byte for byte")
    func embedsTheFolder() throws {
        let folder = RepositoryFile.url("Migrations")
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "sql" }
            .sorted { $0.lastPathComponent < $1.lastPathComponent }
        #expect(!files.isEmpty)
        #expect(Migration.all.map(\.name) == files.map { $0.deletingPathExtension().lastPathComponent })
        for (migration, file) in zip(Migration.all, files) {
            #expect(migration.sql == (try String(contentsOf: file, encoding: .utf8)))
        }
    }

    @Test("Migrations are applied in order, each once")
    func appliesEachOnce() async throws {
        let connection = try await TestDatabase.current.connect()
        #expect(try await migrator(Array(Self.steps.prefix(2))).migrate(connection) == ["0001_a", "0002_b"])
        let status = try await migrator(Self.steps).status(connection)
        #expect(status.applied.map(\.name) == ["0001_a", "0002_b"])
        #expect(status.pending.map(\.name) == ["0003_c"])
        #expect(throws: SchemaError.older(pending: ["0003_c"])) { try status.requireCurrent() }
        #expect(try await migrator(Self.steps).migrate(connection) == ["0003_c"])
        #expect(try await migrator(Self.steps).migrate(connection) == [])
        #expect(try await connection.query("SELECT count(*) FROM b").value(as: Int.self) == 1)
    }

    @Test("Migrations by several migrators at once apply each file once")
    func appliesEachOnceInARace() async throws {
        let database = TestDatabase.current
        let applied = try await withThrowingTaskGroup(of: [String].self) { group in
            for _ in 0..<6 {
                group.addTask {
                    let connection = try await database.connect()
                    let names = try await SchemaMigrator(logger: TestDatabase.logger).migrate(connection)
                    await connection.close()
                    return names
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(applied.sorted() == Migration.all.map(\.name))
    }

    @Test("Migrations leave the schema at the last whole step when one fails")
    func stopsAtAFailure() async throws {
        let connection = try await TestDatabase.current.connect()
        let steps = [Self.steps[0], Migration(name: "0002_b", sql: "CREATE TABLE b (n int); SELECT 1/0;")]
        await #expect(throws: PostgresError.self) { try await migrator(steps).migrate(connection) }
        #expect(try await migrator(steps).status(connection).applied.map(\.name) == ["0001_a"])
        #expect(try await connection.query("SELECT to_regclass('b') IS NULL").value(as: Bool.self))
    }

    @Test("Migrations are refused when an applied one was changed")
    func refusesAChangedFile() async throws {
        let connection = try await TestDatabase.current.connect()
        try await migrator(Self.steps).migrate(connection)
        var changed = Self.steps
        changed[1] = Migration(name: "0002_b", sql: changed[1].sql + "-- edited")
        await #expect(throws: SchemaError.changed(name: "0002_b")) { try await migrator(changed).migrate(connection) }
    }

    @Test("Migrations are refused when an applied one is missing")
    func refusesAMissingFile() async throws {
        let connection = try await TestDatabase.current.connect()
        try await migrator(Self.steps).migrate(connection)
        await #expect(throws: SchemaError.misplaced(applied: "0002_b", expected: "0003_c")) {
            try await migrator([Self.steps[0], Self.steps[2]]).migrate(connection)
        }
    }

    @Test("Migrations of a newer binary are refused by migrating and editing, and not by reading")
    func refusesANewerSchema() async throws {
        let connection = try await TestDatabase.current.connect()
        try await SchemaMigrator(logger: TestDatabase.logger).migrate(connection)
        try await connection.execute(
            "INSERT INTO versiongate_internal.schema_migrations (name, checksum) VALUES ('9999_future', 'x')"
        )
        let newer = SchemaError.newer(unknown: ["9999_future"])
        await #expect(throws: newer) { try await SchemaMigrator(logger: TestDatabase.logger).migrate(connection) }
        await #expect(throws: newer) {
            try await PolicyTransaction(connection, logger: TestDatabase.logger)
                .commit(by: EditAuthor(osUser: nil, why: nil)) { try $0.insert([.init(\App.bundle, "a")]) }
        }
        #expect(try await PolicyReader.policy(connection).rules == [])
    }

    @Test("Migrations say which binary can still read the schema")
    func refusesToReadWhatItCannot() async throws {
        let connection = try await TestDatabase.current.connect()
        await #expect(throws: SchemaError.notInstalled) { try await PolicyReader.policy(connection) }
        try await SchemaMigrator(logger: TestDatabase.logger).migrate(connection)
        try await connection.execute("UPDATE versiongate_internal.schema_reader SET oldest = '9999_future'")
        await #expect(throws: SchemaError.unreadable(needs: "9999_future")) {
            try await PolicyReader.policy(connection)
        }
    }

    @Test("Migrations give up on a lock with an error instead of waiting for ever")
    func givesUpOnALock() async throws {
        let holder = try await TestDatabase.current.connect()
        try await migrator([Self.steps[0]]).migrate(holder)
        let impatient = Migration(name: "0002_d", sql: "SET LOCAL lock_timeout = '50ms'; ALTER TABLE a ADD m int;")
        let database = TestDatabase.current
        let waiting = try await database.connect()
        try await holder.transaction(.readWrite) { session in
            try session.execute("LOCK TABLE a")
            session.hold {
                let migrator = SchemaMigrator(migrations: [Self.steps[0], impatient], logger: TestDatabase.logger)
                let error = await #expect(throws: PostgresError.self) { try await migrator.migrate(waiting) }
                #expect(error?.sqlState == .lockNotAvailable)
            }
        }
    }

    @Test("Migrations printed as a script make by psql what migrating makes, and keep the same record")
    func printsAScript() async throws {
        let migrator = SchemaMigrator(logger: TestDatabase.logger)
        let database = TestDatabase.current
        let result = try await database.psql(migrator.script)
        #expect(result.isSuccess, "\(result.errors)")
        let connection = try await database.connect()
        #expect(try await migrator.status(connection).applied == Migration.all)
        #expect(try await migrator.migrate(connection) == [])
        let server = try await database.connect(user: "versiongate_server")
        #expect(try await PolicyReader.policy(server).rules == [])
    }

    @Test("Migrations printed as a script are applied as a whole or not at all")
    func printsOneTransaction() async throws {
        let database = TestDatabase.current
        let connection = try await database.connect()
        try await connection.execute("CREATE TABLE c (n text)")
        let refused = try await database.psql(migrator(Self.steps).script)
        #expect(!refused.isSuccess)
        #expect(refused.errors.contains("relation \"c\" already exists"))
        #expect(try await migrator(Self.steps).status(connection).applied == [])
        #expect(try await connection.query("SELECT to_regclass('a') IS NULL").value(as: Bool.self))
    }

    @Test("Migrations that psql ran from their files alone are refused with what to do instead")
    func refusesWhatIsNotRecorded() async throws {
        let connection = try await TestDatabase.current.connect()
        for migration in Migration.all { try await connection.execute("BEGIN; \(migration.sql); COMMIT") }
        await #expect(throws: SchemaError.unrecorded) {
            try await SchemaMigrator(logger: TestDatabase.logger).migrate(connection)
        }
        #expect(SchemaError.unrecorded.description.contains("versiongate migrate --print"))
    }

    @Test("Migrations name who holds their lock when they give up on it")
    func namesTheHolderOfTheLock() async throws {
        let holder = try await TestDatabase.current.connect()
        try await holder.execute(
            "SET application_name = 'somebody'; SELECT pg_advisory_lock(x'7665727367617465'::bigint)"
        )
        let process = try await holder.query("SELECT pg_backend_pid()").value(as: Int.self)
        let impatient = SchemaMigrator(migrations: Self.steps, lockTimeout: "20ms", logger: TestDatabase.logger)
        let connection = try await TestDatabase.current.connect()
        let error = SchemaError.locked(by: "process \(process), role versiongate, somebody")
        await #expect(throws: error) { try await impatient.migrate(connection) }
        #expect(error.description.contains("pg_terminate_backend"))
        try await holder.execute("SELECT pg_advisory_unlock_all()")
        #expect(try await impatient.migrate(connection) == Self.steps.map(\.name))
    }

    @Test("Migrations errors say what to do")
    func explainsErrors() {
        #expect(SchemaError.notInstalled.description.contains("versiongate migrate"))
        #expect(SchemaError.older(pending: ["x"]).description.contains("versiongate migrate"))
        #expect(SchemaError.newer(unknown: ["x"]).description.contains("newer versiongate"))
        #expect(SchemaError.unreadable(needs: "x").description.contains("newer one"))
        #expect(SchemaError.changed(name: "x").description.contains("restore the file"))
        #expect(SchemaError.misplaced(applied: "x", expected: "y").description.contains("missing or was renamed"))
        #expect(SchemaError.misplaced(applied: "x", expected: "y").description.contains("CHANGELOG.md"))
        #expect(SchemaError.changed(name: "x").description.contains("CHANGELOG.md"))
    }
}
