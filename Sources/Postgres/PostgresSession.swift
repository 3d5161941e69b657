import CLibpq
import Glibc
import Logging

/// A connection of libpq, with every wait bounded and ended by the cancellation of the task.
///
/// One thread at a time uses it: that of its ``PostgresConnection``, which lends it to the body of `withSession` and
/// `transaction`. Nothing else can use the connection meanwhile.
package final class PostgresSession {
    private(set) var connection: OpaquePointer?
    private let wakeup: Wakeup
    private let logger: Logger
    private let onNotice: (@Sendable (PostgresNotice) -> Void)?
    var responseTimeout: Duration

    /// Whether waits end with the cancellation of the task: not while a cancelled one is tidied up after.
    private var isCancellable = true

    /// The first error of the server since the transaction began: what aborted it.
    private var firstServerError: PostgresError?

    /// Connects, which blocks for at most the connect timeout for each address, and for the resolver of host names.
    init(
        _ configuration: PostgresConfiguration,
        wakeup: Wakeup,
        logger: Logger,
        onNotice: (@Sendable (PostgresNotice) -> Void)?
    ) throws(PostgresError) {
        self.wakeup = wakeup
        self.logger = logger
        self.onNotice = onNotice
        responseTimeout = configuration.responseTimeout
        let parameters = try configuration.connectionParameters()
        let keywords = parameters.map { strdup($0.keyword) } + [nil]
        let values = parameters.map { strdup($0.value) } + [nil]
        defer { for text in keywords + values { free(text) } }
        connection = PQconnectdbParams(keywords.map { UnsafePointer($0) }, values.map { UnsafePointer($0) }, 1)
        guard PQstatus(connection) == CONNECTION_OK else {
            let error = lost()
            throw PostgresError(.connectionFailed, error.message, hint: configuration.serviceHint(error.message))
        }
        _ = PQsetNoticeReceiver(
            connection,
            { session, result in
                guard let session, let result else { return }
                Unmanaged<PostgresSession>.fromOpaque(session).takeUnretainedValue().receive(PostgresNotice(result))
            },
            Unmanaged.passUnretained(self).toOpaque()
        )
        guard PQsetnonblocking(connection, 1) == 0 else { throw lost() }
        // Every role may set defaults for its own sessions to come.
        try execute(PostgresConfiguration.sessionSettings.map { "SET \($0.key) = \($0.value);" }.joined())
    }

    deinit { close() }

    /// Ends the connection; it is not used again.
    func close() {
        PQfinish(connection)
        connection = nil
    }

    private func receive(_ notice: PostgresNotice) {
        let isDebugging = notice.severity?.hasPrefix("DEBUG") == true
        logger.log(
            level: notice.isWarning ? .warning : isDebugging ? .debug : .info,
            "PostgreSQL sent a notice",
            metadata: [
                "postgres.severity": "\(notice.severity ?? "")",
                "postgres.sqlstate": "\(notice.sqlState?.rawValue ?? "")",
                "postgres.message": "\(notice.message)",
            ]
        )
        onNotice?(notice)
    }
}

// MARK: Statements

extension PostgresSession {
    /// Sends one statement and returns its whole result.
    ///
    /// Parameters stand in it as `$1`, `$2` and so on; nil is NULL.
    @discardableResult
    package func query(
        _ sql: String,
        _ parameters: [(any PostgresEncodable)?] = []
    ) throws(PostgresError) -> PostgresResult {
        try check(sql)
        let wasSent = try PostgresParameters(parameters).withPointers { count, types, values, lengths, formats in
            PQsendQueryParams(connection, sql, count, types, values, lengths, formats, 1)
        }
        guard let result = try lastResult(wasSent) else { throw PostgresError(.server, "the statement is empty") }
        return result
    }

    /// Sends statements without parameters, separated by semicolons. The first that fails ends them.
    package func execute(_ sql: String) throws(PostgresError) { _ = try lastResult(of: sql) }

    private func lastResult(of sql: String) throws(PostgresError) -> PostgresResult? {
        try check(sql)
        return try lastResult(PQsendQuery(connection, sql))
    }

    private func check(_ sql: String) throws(PostgresError) {
        guard connection != nil else { throw PostgresError(.closed, "the connection is closed") }
        guard !sql.utf8.contains(0) else {
            throw PostgresError(.encoding, "the text of a statement contains a NUL character")
        }
        if isCancellable, Task.isCancelled { throw PostgresError(.cancelled, "the task was cancelled") }
    }

    /// Reads all results of what was sent, and returns the last or throws the first error.
    private func lastResult(_ wasSent: Int32) throws(PostgresError) -> PostgresResult? {
        guard wasSent == 1 else { throw lost() }
        // Reading meanwhile, so that neither side waits for the other.
        var unsent = PQflush(connection)
        while unsent == 1 {
            if try wait(for: POLLIN | POLLOUT) { try consume() }
            unsent = PQflush(connection)
        }
        guard unsent == 0 else { throw lost() }

        var last: PostgresResult?
        var failure: PostgresError?
        while let result = try nextResult() {
            switch PQresultStatus(result) {
            case PGRES_TUPLES_OK, PGRES_COMMAND_OK: last = PostgresResult(result)
            case PGRES_EMPTY_QUERY: PQclear(result)
            case PGRES_COPY_IN, PGRES_COPY_OUT, PGRES_COPY_BOTH:
                PQclear(result)
                close()
                throw PostgresError(
                    .misuse, "COPY from or to the client is not supported; the connection is closed",
                    hint: "Use INSERT and SELECT, or run the statement in psql."
                )
            default:
                failure = failure ?? PostgresError(result)
                PQclear(result)
            }
        }
        guard let failure else { return last }
        if failure.code == .connectionLost { close() } else { firstServerError = firstServerError ?? failure }
        throw failure
    }

    /// The next result, or nil after the last.
    ///
    /// When the connection breaks, the result is an error: the server's last words if it had any, else libpq's.
    private func nextResult() throws(PostgresError) -> OpaquePointer? {
        while PQisBusy(connection) == 1 {
            if try wait(for: POLLIN), PQconsumeInput(connection) == 0 { break }
        }
        return PQgetResult(connection)
    }
}

// MARK: Transactions

extension PostgresSession {
    /// Whether a transaction is open, be it one that can only be rolled back.
    var isInTransaction: Bool {
        [PQTRANS_INTRANS, PQTRANS_INERROR].contains(PQtransactionStatus(connection))
    }

    func begin(_ mode: PostgresTransactionMode) throws(PostgresError) {
        firstServerError = nil
        try execute("BEGIN ISOLATION LEVEL \(mode.rawValue)")
    }

    /// Rolls an open transaction back; a connection on which that fails is closed, which has the same effect.
    func rollBack() {
        guard isInTransaction else { return }
        isCancellable = false
        defer { isCancellable = true }
        do {
            try execute("ROLLBACK")
        } catch {
            close()
        }
    }

    /// Commits the transaction, or says why it cannot be committed.
    func commit() throws(PostgresError) {
        guard connection != nil else {
            throw PostgresError(.connectionLost, "the connection was lost during the transaction")
        }
        switch PQtransactionStatus(connection) {
        case PQTRANS_INTRANS: break
        case PQTRANS_INERROR:
            throw firstServerError ?? PostgresError(.misuse, "the transaction was aborted by an earlier error")
        default:
            throw PostgresError(.misuse, "the transaction's body ended the transaction by itself")
        }
        isCancellable = false
        defer { isCancellable = true }
        let result: PostgresResult?
        do {
            result = try lastResult(of: "COMMIT")
        } catch {
            guard error.code == .connectionLost || error.code == .timeout else { throw error }
            var error = error
            error.message += "; it is not known whether the transaction was committed"
            throw error
        }
        guard result?.commandTag == "COMMIT" else {
            throw PostgresError(.server, "the server rolled the transaction back instead of committing it")
        }
    }
}

// MARK: Waiting

extension PostgresSession {
    /// Waits for notifications until a deadline or cancellation, which leave the connection as it is.
    func notifications(until deadline: ContinuousClock.Instant) throws(PostgresError) -> [String] {
        guard connection != nil else { throw PostgresError(.closed, "the connection is closed") }
        while true {
            try consume()
            var payloads: [String] = []
            while let notification = PQnotifies(connection) {
                payloads.append(String(cString: notification.pointee.extra))
                PQfreemem(notification)
            }
            guard payloads.isEmpty else { return payloads }
            switch try poll(POLLIN, until: deadline) {
            case .readable, .writable: break
            case .timeout: return []
            case .cancelled: throw PostgresError(.cancelled, "the task was cancelled")
            }
        }
    }

    /// Waits for the server within the response timeout. Returns whether something can be read.
    ///
    /// A server that stays silent, or a cancelled task, ends the connection: nothing else is known to end a statement
    /// that is under way.
    private func wait(for events: Int32) throws(PostgresError) -> Bool {
        switch try poll(events, until: .now + responseTimeout) {
        case .readable: return true
        case .writable: return false
        case .timeout:
            close()
            throw PostgresError(
                .timeout, "the server did not answer within \(responseTimeout); the connection is closed")
        case .cancelled:
            close()
            throw PostgresError(.cancelled, "the task was cancelled during a statement; the connection is closed")
        }
    }

    private enum Event {
        case readable
        case writable
        case timeout
        case cancelled
    }

    private func poll(_ events: Int32, until deadline: ContinuousClock.Instant) throws(PostgresError) -> Event {
        let socket = PQsocket(connection)
        guard socket >= 0 else { throw lost() }
        while true {
            if isCancellable, Task.isCancelled { return .cancelled }
            var entries = [
                pollfd(fd: socket, events: Int16(events), revents: 0),
                pollfd(fd: wakeup.readEnd, events: Int16(POLLIN), revents: 0),
            ]
            let remaining = max(0, (deadline - .now).milliseconds)
            let count = Glibc.poll(&entries, nfds_t(entries.count), Int32(clamping: remaining))
            if count < 0, errno != EINTR {
                close()
                throw PostgresError(
                    .connectionLost, "waiting for the server failed: \(String(cString: strerror(errno)))")
            }
            if count > 0, entries[1].revents != 0 { wakeup.drain() }
            if count > 0, entries[0].revents != 0 {
                return entries[0].revents & ~Int16(POLLOUT) == 0 ? .writable : .readable
            }
            if deadline <= .now { return .timeout }
        }
    }

    /// Takes what has arrived on the socket.
    private func consume() throws(PostgresError) {
        guard PQconsumeInput(connection) == 1 else { throw lost() }
    }

    private func lost() -> PostgresError {
        defer { close() }
        return PostgresError(.connectionLost, PostgresError.oneLine(PQerrorMessage(connection)))
    }
}
