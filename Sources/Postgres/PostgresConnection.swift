import CLibpq
import Dispatch
package import Logging

/// A connection to a PostgreSQL server.
///
/// It runs on a thread of its own, unless it is given one, where libpq may block. Calls are served one after the other.
/// Every wait ends with the response timeout of the configuration or with the cancellation of the calling task; if a
/// statement was under way then, the connection is closed. A closed or lost connection stays so: connect again.
package actor PostgresConnection {
    private let executor: any SerialExecutor
    private let wakeup: Wakeup
    private var session: PostgresSession?

    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private init(on executor: any SerialExecutor) throws(PostgresError) {
        self.executor = executor
        wakeup = try Wakeup()
    }

    /// Connects to a server.
    ///
    /// - Parameters:
    ///   - executor: The thread that the connection runs on, where libpq may block; nil for one of its own.
    ///   - logger: Gets the server's notices: WARNING at `warning`, DEBUG at `debug`, others at `info`.
    ///   - onNotice: Gets them too, on the connection's thread, while the statement that caused them runs. It must
    ///     not wait for the connection.
    /// - Throws: `.connectionFailed` if there is no server, no such role or database, or the password is wrong;
    ///   `.cancelled`.
    package static func connect(
        _ configuration: PostgresConfiguration,
        on executor: (any SerialExecutor)? = nil,
        logger: Logger,
        onNotice: (@Sendable (PostgresNotice) -> Void)? = nil
    ) async throws(PostgresError) -> PostgresConnection {
        let connection = try PostgresConnection(on: executor ?? PostgresExecutor())
        // libpq's connecting cannot be interrupted. A cancelled caller goes on at once, and what the attempt gives
        // later is dropped, which closes it.
        let (attempts, attempt) = AsyncStream.makeStream(of: Result<Void, PostgresError>.self)
        Task { attempt.yield(await connection.open(configuration, logger, onNotice)) }
        for await result in attempts {
            try result.get()
            return connection
        }
        throw PostgresError(.cancelled, "the task was cancelled while it connected")
    }

    private func open(
        _ configuration: PostgresConfiguration,
        _ logger: Logger,
        _ onNotice: (@Sendable (PostgresNotice) -> Void)?
    ) -> Result<Void, PostgresError> {
        Result { () throws(PostgresError) in
            session = try PostgresSession(configuration, wakeup: wakeup, logger: logger, onNotice: onNotice)
        }
    }

    /// Ends the connection. Closing twice is harmless.
    package func close() { session = nil }

    private var libpq: OpaquePointer? { session?.connection }

    /// Whether the connection can be used, as far as is known without asking the server.
    package var isHealthy: Bool { libpq != nil }

    /// The host (or the folder of the socket), port and database, as `db.example.com:5432/versiongate`; nil when the
    /// connection is closed. Never the user's name or password.
    package var address: String? {
        guard let libpq, let host = PQhost(libpq), let port = PQport(libpq), let name = PQdb(libpq) else { return nil }
        let hostText = String(cString: host)
        let isIPv6 = hostText.contains(":") && !hostText.hasPrefix("/")
        return "\(isIPv6 ? "[\(hostText)]" : hostText):\(String(cString: port))/\(String(cString: name))"
    }

    /// Whether the server is a hot standby; nil when the connection is closed.
    package var isHotStandby: Bool? { reportedSetting("in_hot_standby").map { $0 == "on" } }

    /// The value of a setting that the server reports by itself, such as `server_encoding`; nil if it does not.
    package func reportedSetting(_ name: String) -> String? {
        libpq.flatMap { PQparameterStatus($0, name) }.map { String(cString: $0) }
    }

    /// Runs `body` with the session while the cancellation of the task can wake its waits.
    private func perform<R: Sendable>(_ body: (PostgresSession) throws -> R) async throws -> R {
        try await withTaskCancellationHandler {
            guard let session, isHealthy else { throw PostgresError(.closed, "the connection is closed") }
            return try body(session)
        } onCancel: { [wakeup] in
            wakeup.signal()
        }
    }
}

// MARK: Statements

extension PostgresConnection {
    /// Sends one statement and returns its whole result.
    ///
    /// Parameters stand in it as `$1`, `$2` and so on; nil is NULL.
    @discardableResult
    package func query(
        _ sql: String,
        _ parameters: [(any PostgresEncodable)?] = []
    ) async throws -> PostgresResult {
        try await withSession { session in try session.query(sql, parameters) }
    }

    /// Sends statements without parameters, separated by semicolons. The first that fails ends them.
    package func execute(_ sql: String) async throws {
        try await withSession { session in try session.execute(sql) }
    }

    /// Runs several statements with nothing between them, each in a transaction of its own.
    ///
    /// A transaction that `body` begins and leaves open is rolled back, and reported as `.misuse`.
    ///
    /// - Parameter limit: A shorter response timeout than the configuration's, for these statements alone.
    @discardableResult
    package func withSession<R: Sendable>(
        waitingUpTo limit: Duration? = nil,
        _ body: @Sendable (PostgresSession) throws -> R
    ) async throws -> R {
        try await perform { session in
            let responseTimeout = session.responseTimeout
            if let limit { session.responseTimeout = min(limit, responseTimeout) }
            defer { session.responseTimeout = responseTimeout }
            let result = Result { try body(session) }
            guard session.isInTransaction else { return try result.get() }
            session.rollBack()
            _ = try result.get()
            throw PostgresError(.misuse, "a transaction was left open; it is rolled back")
        }
    }

    /// Runs `body` in a transaction: committed when it returns, rolled back when it throws.
    ///
    /// `body` is synchronous, so nothing can come between its statements. If it goes on after an error of the server,
    /// the transaction cannot commit, and that error is thrown at the end. Deferred constraints are checked at the
    /// commit and throw from here. When the connection is lost during the commit, the outcome is unknown; the error
    /// says so.
    @discardableResult
    package func transaction<R: Sendable>(
        _ mode: PostgresTransactionMode = .readWrite,
        _ body: @Sendable (PostgresSession) throws -> R
    ) async throws -> R {
        try await transaction(mode, deciding: { .commit(try body($0)) })
    }

    /// Runs `body` in a transaction that it has committed or rolled back: see ``PostgresTransactionEnd``.
    ///
    /// Otherwise like ``transaction(_:_:)``; what `body` throws rolls back as well.
    @discardableResult
    package func transaction<R: Sendable>(
        _ mode: PostgresTransactionMode = .readWrite,
        deciding body: @Sendable (PostgresSession) throws -> PostgresTransactionEnd<R>
    ) async throws -> R {
        try await perform { session in
            try session.begin(mode)
            do {
                switch try body(session) {
                case .commit(let value):
                    try session.commit()
                    return value
                case .rollback(let value):
                    session.rollBack()
                    return value
                }
            } catch {
                session.rollBack()
                throw error
            }
        }
    }

    /// The verifier of a password for SCRAM-SHA-256 (RFC 5803), made here and with a salt of its own, so that neither the
    /// server nor its log sees the password.
    package func scramVerifier(ofPassword password: String, user: String) async throws -> String {
        try await perform { session in
            guard let verifier = PQencryptPasswordConn(session.connection, password, user, "scram-sha-256") else {
                throw PostgresError(.encoding, PostgresError.oneLine(PQerrorMessage(session.connection)))
            }
            defer { PQfreemem(verifier) }
            return String(cString: verifier)
        }
    }
}

/// The isolation level and access mode of a transaction, which never depend on the session's defaults.
package enum PostgresTransactionMode: String, Sendable {
    /// Each statement sees what was committed before it.
    case readWrite = "READ COMMITTED READ WRITE"
    /// All statements see the same moment, and a write fails with `serialization_failure` where another transaction has
    /// written meanwhile.
    case repeatableRead = "REPEATABLE READ READ WRITE"
    /// All statements see the same moment.
    case repeatableReadReadOnly = "REPEATABLE READ READ ONLY"
}

package enum PostgresTransactionEnd<Value> {
    case commit(Value)
    case rollback(Value)
}

extension PostgresTransactionEnd: Sendable where Value: Sendable {}

// MARK: Notifications

extension PostgresConnection {
    /// Whether something stands between this connection and the server that may give every transaction to another of the
    /// server's processes: PgBouncer or another pooler.
    ///
    /// A server sends each connection its process ID. A pooler sends an invented one, because it has to map cancel requests
    /// later.
    package func isPooled() async throws -> Bool {
        let process = PQbackendPID(libpq)
        return try await query("SELECT pg_backend_pid()").value(as: Int32.self) != process
    }

    /// Starts to receive what NOTIFY sends to a channel from the moment this returns.
    ///
    /// A hot standby refuses it. A pooler may accept it for whichever of the server's processes it has at hand, whose
    /// notifications then reach nobody; ask ``isPooled()`` first.
    package func listen(_ channel: String) async throws {
        try await execute("LISTEN \(PostgresIdentifier(channel))")
    }

    /// Waits until at least one notification is there, and returns the payloads of all that are.
    ///
    /// Empty when `limit` passes without one. Those that arrived during other statements are returned at once. The
    /// connection serves nothing else meanwhile; cancelling the task ends the wait at once and keeps the connection.
    ///
    /// - Throws: `.cancelled`, or `.connectionLost` when the server goes away meanwhile.
    package func notifications(waitingUpTo limit: Duration) async throws -> [String] {
        try await perform { session in try session.notifications(until: .now + limit) }
    }
}

/// The thread of one connection: a dispatch queue on which its actor runs, so that libpq may block there without
/// taking a thread from Swift's shared pool.
private final class PostgresExecutor: SerialExecutor {
    private let queue = DispatchQueue(label: "versiongate.postgres")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = asUnownedSerialExecutor()
        queue.async { job.runSynchronously(on: executor) }
    }
}
