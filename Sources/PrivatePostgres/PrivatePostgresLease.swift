import Glibc
import Logging
package import Postgres

/// The right to use a private PostgreSQL, which runs at least as long as this exists.
///
/// The lease ends with `release()`, when the last reference goes, or with the process.
package final class PrivatePostgresLease: Sendable {
    let postgres: PrivatePostgres
    let folder: ClusterFolder
    private let leases: FileLock
    /// Held by all processes of the server.
    private let server: FileLock

    /// How long recovery after a crash may take before the start is given up.
    private static let startLimit: Duration = .seconds(120)

    init(_ postgres: PrivatePostgres, _ folder: ClusterFolder) throws(PrivatePostgresError) {
        self.postgres = postgres
        self.folder = folder
        leases = try FileLock(folder.leaseLock, owner: folder.owner)
        server = try FileLock(folder.serverLock, owner: folder.owner)
    }

    func lock() async throws(PrivatePostgresError) {
        try await leases.lock(.shared, within: .seconds(120), purpose: "the PostgreSQL in \(folder.path) to stop")
    }

    /// Leaves the lease to the program that replaces this process by `execve`: it ends when that program does.
    package func keepOverExec() { leases.keepOverExec() }

    /// Ends the lease. The server stops unless others hold one.
    package func release() { leases.close() }

    /// Ends the lease and returns when the server has stopped, or another process is known to hold a lease.
    ///
    /// - Throws: `.timeout` if neither happened within a minute; `.cancelled`.
    package func releaseAndWait() async throws(PrivatePostgresError) {
        let probe = try? FileLock(folder.leaseLock, owner: folder.owner)
        leases.close()
        guard let probe else { return }
        try await poll(within: .seconds(60), purpose: "PostgreSQL in \(folder.path) to stop") {
            if probe.tryLock(.exclusive) {
                probe.unlock()
                return self.server.isFree
            }
            defer { probe.unlock() }
            return probe.tryLock(.shared)
        }
    }

    /// The state folder.
    package var stateDirectory: String { folder.stateDirectory }

    /// The folder of the server's socket.
    package var socketDirectory: String { folder.socketDirectory }

    /// The port that names the socket.
    package var port: Int { postgres.settings["port"].flatMap { Int($0) } ?? 5432 }

    /// The id of the server's main process; nil if there is none.
    package var serverProcessID: Int32? {
        server.isFree
            ? nil : ServerFile.text(folder.data + "/postmaster.pid").split(separator: "\n").first.flatMap { Int32($0) }
    }

    /// The settings to connect as a role.
    package func configuration(
        user: String = PrivatePostgres.superuser,
        database: String = PrivatePostgres.database
    ) -> PostgresConfiguration {
        PostgresConfiguration(connectionString: url(user: user, database: database))
    }

    /// An address that psql accepts when run by the user of this process.
    package func url(
        user: String = PrivatePostgres.superuser,
        database: String = PrivatePostgres.database
    ) -> String {
        "postgresql://\(user.percentEncoded)@/\(database.percentEncoded)"
            + "?host=\(socketDirectory.percentEncoded(keeping: "/"))&port=\(port)"
    }
}

// MARK: Starting

extension PrivatePostgresLease {
    /// Brings the server back if it died, and returns when it accepts connections.
    ///
    /// - Throws: as `PrivatePostgres.start()` does; `.startFailed` after the lease was released.
    package func ensureRunning() async throws(PrivatePostgresError) {
        guard leases.isOpen else {
            throw PrivatePostgresError(.startFailed, "the lease on the PostgreSQL in \(folder.path) was released")
        }
        // One process starts it at a time.
        let startLock = try FileLock(folder.startLock, owner: folder.owner)
        defer { startLock.close() }
        try await startLock.lock(
            .exclusive, within: Self.startLimit + .seconds(30),
            purpose: "another process that is starting the PostgreSQL in \(folder.path)"
        )
        if !server.isFree, try await becomesReady() { return }
        let logStart = ServerFile.size(folder.log)
        try await launch()
        guard try await becomesReady() else { throw startFailed("PostgreSQL ended while it was starting", logStart) }
        postgres.logger.notice(
            "The private PostgreSQL was started",
            metadata: ["postgres.folder": "\(folder.path)", "postgres.user": "\(folder.owner.name)"]
        )
    }

    /// Waits until the server accepts connections and has the database. False if no process of it is left.
    private func becomesReady() async throws(PrivatePostgresError) -> Bool {
        var isRunning = true
        var fault = ""
        let logStart = ServerFile.size(folder.log)
        do {
            try await poll(within: Self.startLimit, purpose: "PostgreSQL to start") { () throws(PrivatePostgresError) in
                do {
                    try await self.createDatabase()
                    return true
                } catch {
                    fault = try Self.passingFault(error)
                    isRunning = !self.server.isFree
                    return !isRunning
                }
            }
        } catch {
            guard error.code == .timeout else { throw error }
            throw startFailed("PostgreSQL did not accept connections within \(Self.startLimit): \(fault)", logStart)
        }
        return isRunning
    }

    /// Why a starting server cannot be used yet; throws where waiting does not help.
    private static func passingFault(_ error: any Error) throws(PrivatePostgresError) -> String {
        switch error {
        case let error as PostgresError where [.connectionFailed, .connectionLost].contains(error.code):
            return error.message
        case let error as PostgresError where error.code == .cancelled:
            throw PrivatePostgresError(.cancelled, "the task was cancelled while PostgreSQL started")
        default:
            throw PrivatePostgresError(.startFailed, "the database cannot be created: \(error)")
        }
    }

    private func createDatabase() async throws {
        let connection = try await PostgresConnection.connect(
            configuration(database: "postgres"), logger: postgres.logger)
        let exists: Bool = try await connection.query(
            "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)",
            [PrivatePostgres.database]
        ).value()
        if !exists {
            try await connection.execute("CREATE DATABASE \(PostgresIdentifier(PrivatePostgres.database))")
        }
        await connection.close()
    }

    private func startFailed(_ fault: String, _ logStart: Int) -> PrivatePostgresError {
        let lines = ServerFile.text(folder.log, from: logStart).split(whereSeparator: \.isNewline).suffix(20)
        let log = lines.isEmpty ? "" : "; the end of \(folder.log):\n" + lines.map { "  \($0)" }.joined(separator: "\n")
        return PrivatePostgresError(.startFailed, fault + log)
    }
}
