import Glibc
package import Postgres
import PrivatePostgres
import TestSystem

/// A PostgreSQL that a test has to itself, to be killed, suspended and started again.
package struct OwnServer: Sendable {
    let lease: PrivatePostgresLease

    /// Starts a server in a fresh temporary folder, runs `body` with it, and removes it.
    ///
    /// Its data survive `kill()`; durability against a failure of the machine is switched off.
    ///
    /// - Parameters:
    ///   - isMigrated: Whether the database that is versiongate's own has its schema.
    ///   - listensOnLoopback: Whether it also listens on 127.0.0.1.
    ///   - language: The language of its messages, which needs the catalogue of PostgreSQL; nil: English.
    ///   - settings: Settings of PostgreSQL that differ from those of every such server.
    ///   - body: What to do.
    package static func with<R: Sendable>(
        isMigrated: Bool = false,
        listensOnLoopback: Bool = false,
        language: String? = nil,
        settings: [String: String] = [:],
        _ body: (OwnServer) async throws -> R
    ) async throws -> R {
        try await ServerPlaces.take {
            try await start(
                isMigrated: isMigrated, listensOnLoopback: listensOnLoopback, language: language, settings: settings,
                body
            )
        }
    }

    private static func start<R: Sendable>(
        isMigrated: Bool,
        listensOnLoopback: Bool,
        language: String?,
        settings: [String: String],
        _ body: (OwnServer) async throws -> R
    ) async throws -> R {
        // In the data folder, so that nothing is left of a server that is killed.
        var settings = settings.merging(["fsync": "off", "dynamic_shared_memory_type": "mmap"]) { $1 }
        if listensOnLoopback {
            settings["listen_addresses"] = "127.0.0.1"
            settings["port"] = "\(try LoopbackPort.choose())"
        }
        if language != nil { settings["lc_messages"] = "C.UTF-8" }
        let folder = TestDatabase.freshFolder()
        var postgres = try PrivatePostgres.ofTests(stateDirectory: folder, settings: settings)
        if let language { postgres = try postgres.speaking(language) }
        try await ClusterTemplate.copy(to: folder, isMigrated: isMigrated)
        let lease = try await postgres.start()
        try lease.removeAfterwards()
        let result: Result<R, any Error>
        do {
            result = .success(try await body(OwnServer(lease: lease)))
        } catch {
            result = .failure(error)
        }
        try await lease.releaseAndWait()
        return try result.get()
    }

    /// The settings to connect as a role; by default as the superuser, to the database that is versiongate's own.
    package func configuration(user: String = PrivatePostgres.superuser) -> PostgresConfiguration {
        lease.configuration(user: user).patient
    }

    /// An address of a database, by default versiongate's own, for other programs.
    package func url(
        user: String = PrivatePostgres.superuser,
        database: String = PrivatePostgres.database
    ) -> String {
        lease.url(user: user, database: database)
    }

    /// Connects as a role; by default as the superuser.
    package func connect(user: String = PrivatePostgres.superuser) async throws -> PostgresConnection {
        try await PostgresConnection.connect(configuration(user: user), logger: TestDatabase.logger)
    }

    /// The port on 127.0.0.1 of a server that listens there.
    package var port: Int { lease.port }

    /// Starts the server again after it was killed.
    package func ensureRunning() async throws { try await lease.ensureRunning() }

    /// Kills the server's main process with SIGKILL; the others end by themselves.
    package func kill() { signal(SIGKILL) }

    /// Sends a signal to the server's main process.
    package func signal(_ signal: Int32) {
        if let process = lease.serverProcessID { _ = systemKill(process, signal) }
    }
}

private func systemKill(_ process: Int32, _ signal: Int32) -> Int32 { kill(process, signal) }
