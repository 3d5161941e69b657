import Logging
import Postgres

/// The connection of the pages to the database: opened on demand, closed when nobody looks any more.
actor PageDatabase {
    /// Why a page has no figures.
    enum Fault: Error {
        /// The database cannot be reached; what it or libpq says.
        case away(String)
        case tooSlow
        case forbidden(role: String, detail: String)
        /// Anything else that the database says.
        case refused(String)
    }

    /// How long a statement may take.
    static let statementTimeout = Duration.seconds(2)

    private let thread: PageThread
    /// How long the connection stays open after its last use.
    private let idleTime: Duration
    private let configuration: @Sendable () async throws -> PostgresConfiguration
    private let logger: Logger
    private var connection: PostgresConnection?
    /// Closes the connection unless it is used again before.
    private var closing: Task<Void, Never>?
    private var isBusy = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    init(
        on thread: PageThread,
        idleTime: Duration = .seconds(30),
        configuration: @escaping @Sendable () async throws -> PostgresConfiguration,
        logger: Logger
    ) {
        self.thread = thread
        self.idleTime = idleTime
        self.configuration = configuration
        self.logger = logger
    }

    /// Reads within a snapshot, in the order of the calls, one at a time.
    ///
    /// - Throws: ``Fault``, or a ``PageProblem`` of `body`.
    func read<Result: Sendable>(_ body: @Sendable (PostgresSession) throws -> Result) async throws -> Result {
        await enter()
        defer { leave() }
        do {
            let connection = try await connected()
            return try await connection.transaction(.repeatableReadReadOnly) { session in
                let limit = Self.statementTimeout.components.seconds
                // With this memory, grouping a day of counts needs no files.
                try session.execute(
                    "SET LOCAL statement_timeout = '\(limit)s'; SET LOCAL lock_timeout = '500ms';"
                        + " SET LOCAL work_mem = '64MB'; SET LOCAL max_parallel_workers_per_gather = 0"
                )
                return try body(session)
            }
        } catch let error as PostgresError {
            throw await fault(error)
        } catch let problem as PageProblem {
            throw problem
        } catch {
            throw Fault.refused("\(error)")
        }
    }

    /// Closes the connection; who reads meanwhile opens another one.
    func close() async {
        let open = connection
        connection = nil
        await open?.close()
    }

    private func fault(_ error: PostgresError) async -> Fault {
        if error.sqlState == .queryCanceled { return .tooSlow }
        if error.sqlState == .insufficientPrivilege {
            let role = try? await connection?.query("SELECT session_user::text").value(as: String.self)
            return .forbidden(role: role ?? "versiongate_server", detail: error.message)
        }
        if error.code == .server { return .refused(error.message) }
        await close()
        return .away(error.message)
    }

    /// Waits for those who came before, while one of them connects.
    private func enter() async {
        guard isBusy else {
            isBusy = true
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }

    private func leave() {
        if waiting.isEmpty { isBusy = false } else { waiting.removeFirst().resume() }
        closing?.cancel()
        closing = Task { [idleTime] in
            do { try await Task.sleep(for: idleTime) } catch { return }
            // Whoever reads now closes it later.
            if !isBusy { await close() }
        }
    }

    private func connected() async throws -> PostgresConnection {
        if let connection, await connection.isHealthy { return connection }
        await close()
        var configuration = try await configuration()
        configuration.applicationName = "versiongate pages"
        configuration.connectTimeout = .seconds(2)
        configuration.responseTimeout = .seconds(4)
        let connection = try await PostgresConnection.connect(configuration, on: thread, logger: logger)
        self.connection = connection
        return connection
    }
}
