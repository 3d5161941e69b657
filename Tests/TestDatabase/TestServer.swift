// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Postgres
import PrivatePostgres

/// The PostgreSQL that all tests of a process share.
actor TestServer {
    /// Started by whoever asks first.
    static let shared = Task { try await TestServer() }

    nonisolated let lease: PrivatePostgresLease
    private let connection: PostgresConnection
    private var template: Task<String, any Error>?
    private var count = 0

    private init() async throws {
        let options = PrivatePostgresOptions(
            settings: [
                "fsync": "off",
                "synchronous_commit": "off",
                "full_page_writes": "off",
                "max_connections": "200",
            ],
            additionalRoles: TestDatabase.additionalRoles,
            isDisposable: true
        )
        lease = try await PrivatePostgres(
            stateDirectory: TestDatabase.freshFolder(),
            options: options,
            logger: TestDatabase.logger
        ).start()
        connection = try await PostgresConnection.connect(
            lease.configuration(database: "postgres"),
            logger: TestDatabase.logger
        )
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
        try await connection.execute("CREATE DATABASE \(database) TEMPLATE \(PostgresIdentifier(template))")
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
