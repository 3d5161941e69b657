package import Logging
package import Postgres
import PrivatePostgres
import TestSystem

/// A database that belongs to one running test.
///
/// It lives in a PostgreSQL that the test process starts at first use in a fresh temporary folder, which stops and is
/// deleted when the process ends in any way. It is reached through a Unix socket alone, so no test can touch a
/// database elsewhere.
package struct TestDatabase: Sendable {
    /// The name of the database.
    package let name: String
    let server: TestServer

    @TaskLocal static var ofThisTest: TestDatabase?

    /// The database of the running test, which needs the trait `.database` or `.migratedDatabase`.
    package static var current: TestDatabase {
        guard let database = ofThisTest else {
            preconditionFailure("the test needs the trait .database or .migratedDatabase")
        }
        return database
    }

    /// Runs with a copy of the database as `current`; what happens there leaves the database as it is, whose sessions end.
    package static func withCopy<Result: Sendable>(
        _ body: @Sendable () async throws -> Result
    ) async throws -> Result {
        let copy = try await current.server.copy(of: current)
        defer { copy.server.dropDatabase(copy) }
        return try await $ofThisTest.withValue(copy, operation: body)
    }

    /// The settings to connect as a role; by default as the superuser who owns the database.
    package func configuration(user: String = PrivatePostgres.superuser) -> PostgresConfiguration {
        server.lease.configuration(user: user, database: name).patient
    }

    /// An address of the database for other programs.
    package func url(user: String = PrivatePostgres.superuser) -> String {
        server.lease.url(user: user, database: name)
    }

    /// The service of libpq as which commands reach the database of a test.
    package static let service = "test"

    /// The lines below the name of a service that is this database.
    package func service(user: String) -> String {
        let lease = server.lease
        return "host=\(lease.socketDirectory)\nport=\(lease.port)\ndbname=\(name)\nuser=\(user)"
    }

    /// Connects as a role; by default as the superuser who owns the database. The session may have served another test.
    package func connect(
        user: String = PrivatePostgres.superuser,
        onNotice: (@Sendable (PostgresNotice) -> Void)? = nil
    ) async throws -> PostgresConnection {
        if let warm = WarmDatabase.ofThisTest, warm.database.name == name {
            return try await warm.connect(user: user, onNotice: onNotice)
        }
        return try await PostgresConnection.connect(configuration(user: user), logger: Self.logger, onNotice: onNotice)
    }

    /// A logger that says nothing.
    package static var logger: Logger { Logger(label: "versiongate.test", factory: { _ in SwiftLogNoOpLogHandler() }) }
}

extension PostgresConfiguration {
    /// These settings, with the patience of tests.
    var patient: PostgresConfiguration {
        var configuration = self
        configuration.connectTimeout = Patience.limit
        configuration.responseTimeout = Patience.limit
        return configuration
    }
}
