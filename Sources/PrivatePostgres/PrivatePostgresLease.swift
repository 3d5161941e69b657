public import Postgres

/// The right to use a private PostgreSQL, which runs at least as long as this exists.
///
/// The lease ends with `release()`, when the last reference goes, or with the process.
public final class PrivatePostgresLease: Sendable {
    private let cluster: Cluster
    private let lock: FileLock
    private let serverLock: FileLock

    init(cluster: Cluster, lock: FileLock, serverLock: FileLock) {
        self.cluster = cluster
        self.lock = lock
        self.serverLock = serverLock
    }

    /// Brings the server back if it died, and returns when it accepts connections.
    ///
    /// - Throws: as `PrivatePostgres.start()` does; `.startFailed` after the lease was released.
    public func ensureRunning() async throws(PrivatePostgresError) {
        guard lock.isOpen else {
            throw PrivatePostgresError(
                .startFailed,
                "the lease on the PostgreSQL in \(cluster.folder.path) was released"
            )
        }
        try await cluster.ensureRunning(serverLock: serverLock)
    }

    /// Leaves the lease to the program that replaces this process by `execve`: it ends when that program does.
    public func keepOverExec() { lock.keepOverExec() }

    /// Ends the lease. The server stops unless others hold one.
    public func release() { lock.close() }

    /// Ends the lease and returns when the server has stopped, or another process is known to hold a lease.
    ///
    /// - Throws: `.timeout` if neither happened within a minute; `.cancelled`.
    public func releaseAndWait() async throws(PrivatePostgresError) {
        let probe = try? FileLock(cluster.folder.leaseLock, owner: cluster.folder.owner)
        lock.close()
        guard let probe else { return }
        try await poll(within: .seconds(60), purpose: "PostgreSQL in \(cluster.folder.path) to stop") {
            if probe.tryLock(.exclusive) {
                probe.unlock()
                return self.serverLock.isFree
            }
            defer { probe.unlock() }
            return probe.tryLock(.shared)
        }
    }

    /// The folder of the server's socket.
    public var socketDirectory: String { cluster.folder.socketDirectory }

    /// The port that names the socket and, if asked for, listens on 127.0.0.1.
    public var port: Int { cluster.port }

    /// The id of the server's main process; nil if there is none.
    public var serverProcessID: Int32? { serverLock.isFree ? nil : cluster.serverProcessID }

    /// The settings to connect as a role.
    public func configuration(
        user: String = PrivatePostgres.superuser,
        database: String = PrivatePostgres.database
    ) -> PostgresConfiguration {
        PostgresConfiguration(connectionString: url(user: user, database: database))
    }

    /// An address that psql accepts when run by the user of this process.
    public func url(
        user: String = PrivatePostgres.superuser,
        database: String = PrivatePostgres.database
    ) -> String {
        PostgresAddress(user: user, database: database, socketDirectory: socketDirectory, port: port).description
    }
}
