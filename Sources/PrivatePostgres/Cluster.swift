import Glibc
import Logging
import Postgres
import Synchronization

/// The server in a cluster folder, used by a process that holds a lease.
final class Cluster: Sendable {
    let folder: ClusterFolder
    let options: PrivatePostgresOptions
    let search: PostgresInstallation.Search
    let logger: Logger
    private let currentPort = Mutex(5432)

    /// How long recovery after a crash may take before the start is given up.
    private static let startLimit: Duration = .seconds(120)

    init(
        folder: ClusterFolder,
        options: PrivatePostgresOptions,
        search: PostgresInstallation.Search,
        logger: Logger
    ) {
        self.folder = folder
        self.options = options
        self.search = search
        self.logger = logger
    }

    var port: Int { currentPort.withLock { $0 } }

    /// Starts the server unless it runs, one process at a time, and returns when it accepts connections.
    func ensureRunning(serverLock: FileLock) async throws(PrivatePostgresError) {
        let startLock = try FileLock(folder.startLock, owner: folder.owner)
        defer { startLock.close() }
        try await startLock.lock(
            .exclusive, within: Self.startLimit + .seconds(30),
            purpose: "another process that is starting the PostgreSQL in \(folder.path)"
        )
        if !serverLock.isFree {
            if let running = runningPort { currentPort.withLock { $0 = running } }
            if try await becomesReady(serverLock: serverLock) { return }
        }
        let logStart = ServerLog(folder.log).size
        try await launch()
        guard try await becomesReady(serverLock: serverLock) else {
            throw startFailed("PostgreSQL ended while it was starting", logStart)
        }
        logger.notice(
            "The private PostgreSQL was started",
            metadata: ["postgres.folder": "\(folder.path)", "postgres.user": "\(folder.owner.name)"]
        )
    }

    /// Waits until the server accepts connections and has the database. False if no process of it is left.
    private func becomesReady(serverLock: FileLock) async throws(PrivatePostgresError) -> Bool {
        var isRunning = true
        var fault = ""
        let logStart = ServerLog(folder.log).size
        do {
            try await poll(within: Self.startLimit, purpose: "PostgreSQL to start") { () throws(PrivatePostgresError) in
                do {
                    try await self.createDatabase()
                    return true
                } catch {
                    fault = try Self.passingFault(error)
                    isRunning = !serverLock.isFree
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
        let configuration = PostgresConfiguration(
            connectionString: PostgresAddress(
                user: PrivatePostgres.superuser, database: "postgres", socketDirectory: folder.socketDirectory,
                port: port
            ).description
        )
        let connection = try await PostgresConnection.connect(configuration, logger: logger)
        let exists: Bool = try await connection.query(
            "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)",
            [PrivatePostgres.database]
        ).value()
        if !exists {
            try await connection.execute("CREATE DATABASE \(PostgresIdentifier(PrivatePostgres.database))")
        }
        await connection.close()
    }

    /// The lines of `postmaster.pid`: its process id, folder, time of start, port, and more.
    private var serverFile: [Substring] {
        ServerLog(folder.data + "/postmaster.pid").text(from: 0).split(
            separator: "\n",
            omittingEmptySubsequences: false
        )
    }

    var serverProcessID: Int32? { serverFile.first.flatMap { Int32($0) } }

    private var runningPort: Int? { serverFile.count > 3 ? Int(serverFile[3]) : nil }

    func setPort(_ port: Int) { currentPort.withLock { $0 = port } }

    private func startFailed(_ fault: String, _ logStart: Int64) -> PrivatePostgresError {
        let lines = ServerLog(folder.log).lastLines(20, from: logStart)
        let log = lines.isEmpty ? "" : "; the end of \(folder.log):\n" + lines.map { "  \($0)" }.joined(separator: "\n")
        return PrivatePostgresError(.startFailed, fault + log)
    }
}
