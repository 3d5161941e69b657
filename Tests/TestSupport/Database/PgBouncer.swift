import Foundation
package import Postgres
import PrivatePostgres

/// A PgBouncer in transaction mode in front of the database of a test, with fewer connections than there are clients.
package struct PgBouncer: Sendable {
    private let folder: String
    private let database: String

    /// Where the program is; nil if it is not installed.
    package static var program: String? { Companion.find("pgbouncer") }

    /// Runs PgBouncer while `body` runs.
    package static func with<Result: Sendable>(
        _ database: TestDatabase,
        _ body: (PgBouncer) async throws -> Result
    ) async throws -> Result {
        guard let program else { throw CompanionError("pgbouncer is not installed") }
        let connection = try await database.connect()
        let data = try await connection.query("SHOW data_directory").value(as: String.self)
        await connection.close()
        let folder = try Companion.makeFolder(ownedAs: data)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let lease = database.server.lease
        // No ignore_startup_parameters: whatever a client asks for at its start must be what every pooler takes.
        let settings = """
            [databases]
            * = host=\(lease.socketDirectory) port=\(lease.port)
            [pgbouncer]
            listen_port = 6432
            unix_socket_dir = \(folder)
            auth_type = trust
            auth_file = \(folder)/users
            pool_mode = transaction
            default_pool_size = 2
            """
        let users = ["versiongate_server", "versiongate_admin", PrivatePostgres.superuser].map { "\"\($0)\" \"\"\n" }
        for (name, text) in [("pgbouncer.ini", settings), ("users", users.joined())] {
            let path = "\(folder)/\(name)"
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        }
        let bouncer = PgBouncer(folder: folder, database: database.name)
        return try await Companion.run([program, "\(folder)/pgbouncer.ini"], asOwnerOf: data, log: "\(folder)/log") {
            try await TestDatabase.untilConnected(bouncer.configuration(user: PrivatePostgres.superuser))
            return try await body(bouncer)
        }
    }

    /// An address of the test's database behind it, for other programs.
    package func url(user: String) -> String {
        "host=\(folder) port=6432 user=\(user) dbname=\(database)"
    }

    /// The settings to connect as a role.
    package func configuration(user: String) -> PostgresConfiguration {
        PostgresConfiguration(connectionString: url(user: user)).patient
    }
}
