// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Postgres
import PrivatePostgres

/// The PostgreSQL that all tests of a process share.
actor TestServer {
    /// Started by whoever asks first.
    static let shared = Task { try await TestServer() }

    /// Durability against a failure of the machine is switched off, and so is the compiler of expressions, which costs a
    /// short session more than it runs.
    static let settings = ["fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "jit": "off"]

    nonisolated let lease: PrivatePostgresLease
    /// The folder that is removed when the server stops, with all that is in it.
    nonisolated let stateDirectory = TestDatabase.freshFolder()
    /// Where psql is. The one in PATH may be a script that looks for it, which takes longer than psql does.
    nonisolated let psql: String
    private let connection: PostgresConnection
    private var template: Task<String, any Error>?
    private var count = 0

    private init() async throws {
        let options = PrivatePostgresOptions(
            settings: Self.settings.merging(["max_connections": "200", "max_prepared_transactions": "2"]) { $1 },
            additionalRoles: TestDatabase.additionalRoles,
            isDisposable: true
        )
        lease = try await PrivatePostgres(
            stateDirectory: stateDirectory,
            options: options,
            logger: TestDatabase.logger
        ).start()
        connection = try await PostgresConnection.connect(
            lease.configuration(database: "postgres").patient,
            logger: TestDatabase.logger
        )
        psql =
            try await connection.query("SELECT setting FROM pg_config WHERE name = 'BINDIR'").value(as: String.self)
            + "/psql"
    }

    func createDatabase(isMigrated: Bool) async throws -> TestDatabase {
        let template = isMigrated ? try await migratedTemplate() : "template0"
        count += 1
        return try await createDatabase(named: "test_\(count)", template: template)
    }

    func dropDatabase(_ database: TestDatabase) async throws {
        try await connection.execute("DROP DATABASE \(PostgresIdentifier(database.name)) WITH (FORCE)")
    }

    private func createDatabase(named name: String, template: String) async throws -> TestDatabase {
        let database = try PostgresIdentifier(name)
        // By copying files: to write each page to the log as well takes five times the time.
        try await connection.execute(
            "CREATE DATABASE \(database) TEMPLATE \(PostgresIdentifier(template)) STRATEGY file_copy"
        )
        return TestDatabase(name: name, server: self)
    }

    private func migratedTemplate() async throws -> String {
        let preparation =
            template
            ?? Task {
                let database = try await createDatabase(named: "test_template", template: "template0")
                try await TestDatabase.prepareTemplate(database.configuration())
                return database.name
            }
        template = preparation
        return try await preparation.value
    }
}
