import Dispatch
public import Logging

/// A connection to a PostgreSQL server.
///
/// It runs on a thread of its own, unless it is given one, where libpq may block. Calls are served one after the other. Every wait ends with
/// the response timeout of the configuration or with the cancellation of the calling task; if a statement was under
/// way then, the connection is closed. A closed or lost connection stays so: connect again.
public actor PostgresConnection {
    private let executor: any SerialExecutor
    let wakeup: Wakeup
    private let configuration: PostgresConfiguration
    private let notices: NoticeReceiver
    var libpq: LibpqConnection?

    /// The thread of this connection.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private init(
        _ configuration: PostgresConfiguration,
        on executor: any SerialExecutor,
        logger: Logger,
        onNotice: (@Sendable (PostgresNotice) -> Void)?
    ) throws(PostgresError) {
        self.executor = executor
        wakeup = try Wakeup()
        self.configuration = configuration
        notices = NoticeReceiver(logger: logger, handler: onNotice)
    }

    /// Connects to a server.
    ///
    /// - Parameters:
    ///   - configuration: Where, as whom, and how long to wait.
    ///   - executor: The thread that the connection runs on, where libpq may block; nil for one of its own.
    ///   - logger: Gets the server's notices: WARNING at `warning`, DEBUG at `debug`, others at `info`.
    ///   - onNotice: Gets them too, on the connection's thread, while the statement that caused them runs. It must
    ///     not wait for the connection.
    /// - Throws: `.connectionFailed` if there is no server, no such role or database, or the password is wrong;
    ///   `.cancelled`.
    public static func connect(
        _ configuration: PostgresConfiguration,
        on executor: (any SerialExecutor)? = nil,
        logger: Logger,
        onNotice: (@Sendable (PostgresNotice) -> Void)? = nil
    ) async throws(PostgresError) -> PostgresConnection {
        let connection = try PostgresConnection(
            configuration, on: executor ?? PostgresExecutor(), logger: logger, onNotice: onNotice
        )
        let attempt = ConnectionAttempt()
        let result = await withTaskCancellationHandler {
            Task { attempt.finish(await connection.open()) }
            return await attempt.result()
        } onCancel: {
            attempt.finish(.failure(PostgresError(.cancelled, "the task was cancelled while it connected")))
        }
        return try result.get()
    }

    private func open() -> Result<PostgresConnection, PostgresError> {
        Result { () throws(PostgresError) in
            libpq = try LibpqConnection(configuration, notices: notices, wakeup: wakeup)
            return self
        }
    }

    /// Whether the connection can be used, as far as is known without asking the server.
    public var isHealthy: Bool { libpq?.isOpen ?? false }

    /// The server's version as a number: 150018 is 15.18. 0 when the connection is closed.
    public var serverVersion: Int { libpq?.serverVersion ?? 0 }

    /// The host (or the folder of the socket), port and database, as `db.example.com:5432/versiongate`; nil when the
    /// connection is closed. Never the user's name or password.
    public var address: String? { libpq?.address }

    /// Whether the server is a hot standby; nil when the connection is closed.
    public var isHotStandby: Bool? { reportedSetting("in_hot_standby").map { $0 == "on" } }

    /// The value of a setting that the server reports by itself, such as `server_encoding`; nil if it does not.
    public func reportedSetting(_ name: String) -> String? { libpq?.reportedSetting(name) }

    /// Ends the connection. Closing twice is harmless.
    public func close() {
        libpq?.close()
        libpq = nil
    }

    /// Runs `body` with the connection while the cancellation of the task can wake its waits.
    func perform<R: Sendable, E: Error>(
        _ body: (LibpqConnection) throws(E) -> R
    ) async throws -> R {
        try await withTaskCancellationHandler {
            guard let libpq, libpq.isOpen else { throw PostgresError(.closed, "the connection is closed") }
            return try body(libpq)
        } onCancel: { [wakeup] in
            wakeup.signal()
        }
    }
}

/// The thread of one connection: a dispatch queue on which its actor runs, so that libpq may block there without
/// taking a thread from Swift's shared pool.
final class PostgresExecutor: SerialExecutor {
    private let queue = DispatchQueue(label: "versiongate.postgres")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = asUnownedSerialExecutor()
        queue.async { job.runSynchronously(on: executor) }
    }
}
