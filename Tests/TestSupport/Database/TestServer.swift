import Postgres
import PrivatePostgres

/// The PostgreSQL that all tests of a process share.
actor TestServer {
    /// Started by whoever asks first.
    static let shared = Task { try await TestServer() }

    /// Durability against a failure of the machine is switched off, and so are the compiler of expressions, which costs a
    /// short session more than it runs, and the cleaning of hundreds of databases that are soon dropped.
    static let settings = [
        "fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "jit": "off", "autovacuum": "off",
    ]

    nonisolated let lease: PrivatePostgresLease
    /// The folder that is removed when the server stops, with all that is in it.
    nonisolated let stateDirectory = TestDatabase.freshFolder()
    /// Where psql is. The one in PATH may be a script that looks for it, which takes longer than psql does.
    nonisolated let psql: String
    private let creating: PostgresConnection
    private let dropping: PostgresConnection
    private var template: Task<String, any Error>?
    /// Migrated databases for the tests that come next.
    private var ready: [Task<TestDatabase, any Error>] = []
    private var count = 0

    /// How many databases are made ahead.
    private static let readyCount = 8

    private init() async throws {
        lease = try await PrivatePostgres.ofTests(
            stateDirectory: stateDirectory,
            settings: Self.settings.merging(["max_connections": "400", "max_prepared_transactions": "2"]) { $1 }
        ).start()
        try lease.removeAfterwards()
        let configuration = lease.configuration(database: "postgres").patient
        creating = try await PostgresConnection.connect(configuration, logger: TestDatabase.logger)
        dropping = try await PostgresConnection.connect(configuration, logger: TestDatabase.logger)
        psql =
            try await creating.query("SELECT setting FROM pg_config WHERE name = 'BINDIR'").value(as: String.self)
            + "/psql"
    }

    func createDatabase(isMigrated: Bool) async throws -> TestDatabase {
        guard isMigrated else { return try await createDatabase(template: "template0") }
        while ready.count <= Self.readyCount {
            ready.append(Task { try await createDatabase(template: migratedTemplate()) })
        }
        return try await ready.removeFirst().value
    }

    /// Drops a database while other tests go on. What is left of it goes with the server.
    nonisolated func dropDatabase(_ database: TestDatabase) {
        Task {
            do {
                try await dropping.execute("DROP DATABASE \(PostgresIdentifier(database.name)) WITH (FORCE)")
            } catch {
                print("The database \(database.name) of a test cannot be dropped: \(error)")
            }
        }
    }

    /// A copy of a database, whose sessions end.
    func copy(of database: TestDatabase) async throws -> TestDatabase {
        _ = try await creating.query(
            "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = $1",
            [database.name]
        )
        return try await createDatabase(template: database.name)
    }

    private func createDatabase(template: String) async throws -> TestDatabase {
        count += 1
        let name = "test_\(count)"
        // By copying files: to write each page to the log as well takes five times the time.
        try await creating.execute(
            "CREATE DATABASE \(PostgresIdentifier(name)) TEMPLATE \(PostgresIdentifier(template)) STRATEGY file_copy"
        )
        return TestDatabase(name: name, server: self)
    }

    private func migratedTemplate() async throws -> String {
        let preparation =
            template
            ?? Task {
                let database = try await createDatabase(template: "template0")
                try await TestDatabase.prepareTemplate(database.configuration())
                return database.name
            }
        template = preparation
        return try await preparation.value
    }
}
