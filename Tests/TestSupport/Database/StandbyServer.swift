import Foundation
package import Postgres
import PrivatePostgres
import TestSystem

/// A streaming standby of an ``OwnServer``, made by pg_basebackup.
package struct StandbyServer: Sendable {
    /// The folder of the standby's socket.
    package let socketDirectory: String

    /// Makes a standby, runs `body` with it once it answers, and removes it.
    package static func with<Result: Sendable>(
        of primary: OwnServer,
        _ body: (StandbyServer) async throws -> Result
    ) async throws -> Result {
        let data = try await primary.dataDirectory()
        let programs = try primary.programs()
        let folder = try Companion.makeFolder(ownedAs: data)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await Companion.finish(
            [
                "\(programs)/pg_basebackup", "--dbname", primary.url(), "--pgdata", "\(folder)/data",
                "--write-recovery-conf", "--checkpoint=fast", "--no-sync",
            ],
            asOwnerOf: data
        )
        let standby = StandbyServer(socketDirectory: folder)
        return try await Companion.run(
            [
                "\(programs)/postgres", "-D", "\(folder)/data", "-c", "listen_addresses=", "-c", "port=5432",
                "-c", "unix_socket_directories=\(folder)", "-c", "unix_socket_permissions=0700", "-c", "fsync=off",
                "-c", "hba_file=\(primary.lease.stateDirectory)/pg_hba.conf",
            ],
            asOwnerOf: data,
            log: "\(folder)/log"
        ) {
            try await TestDatabase.untilConnected(standby.configuration())
            return try await body(standby)
        }
    }

    /// The settings to connect as a role; by default as the superuser.
    package func configuration(user: String = PrivatePostgres.superuser) -> PostgresConfiguration {
        PostgresConfiguration(
            connectionString:
                "host=\(socketDirectory) port=5432 user=\(user) dbname=\(PrivatePostgres.database)"
        ).patient
    }

    /// Connects as a role; by default as the superuser.
    package func connect(user: String = PrivatePostgres.superuser) async throws -> PostgresConnection {
        try await PostgresConnection.connect(configuration(user: user), logger: TestDatabase.logger)
    }

    /// Makes it a primary, and returns when it is one.
    package func promote() async throws {
        let connection = try await connect()
        try await connection.execute("SELECT pg_promote()")
        await connection.close()
    }
}

extension OwnServer {
    /// The folder of the server's socket.
    package var socketDirectory: String { lease.socketDirectory }

    func dataDirectory() async throws -> String {
        let connection = try await connect()
        let folder = try await connection.query("SHOW data_directory").value(as: String.self)
        await connection.close()
        return folder
    }

    /// The folder of the programs that the server was started from.
    func programs() throws -> String {
        guard let process = lease.serverProcessID else {
            throw CompanionError("the primary does not run")
        }
        return URL(fileURLWithPath: "/proc/\(process)/exe").resolvingSymlinksInPath().deletingLastPathComponent().path
    }
}

extension TestDatabase {
    /// Returns when a server that is starting accepts connections.
    static func untilConnected(_ configuration: PostgresConfiguration) async throws {
        try await Poll.until("the server to accept connections") {
            guard let connection = try? await PostgresConnection.connect(configuration, logger: logger) else {
                return false
            }
            await connection.close()
            return true
        }
    }
}
