extension PostgresConnection {
    /// Sends one statement and returns its whole result.
    ///
    /// Parameters stand in it as `$1`, `$2` and so on; nil is NULL.
    @discardableResult
    public func query(
        _ sql: String,
        _ parameters: [(any PostgresEncodable)?] = []
    ) async throws -> PostgresResult {
        try await withSession { session in try session.query(sql, parameters) }
    }

    /// Sends statements without parameters, separated by semicolons. The first that fails ends them.
    public func execute(_ sql: String) async throws {
        try await withSession { session in try session.execute(sql) }
    }

    /// Runs several statements with nothing between them, each in a transaction of its own.
    ///
    /// A transaction that `body` begins and leaves open is rolled back, and reported as `.misuse`.
    ///
    /// - Parameter limit: A shorter response timeout than the configuration's, for these statements alone.
    @discardableResult
    public func withSession<R: Sendable>(
        waitingUpTo limit: Duration? = nil,
        _ body: @Sendable (PostgresSession) throws -> R
    ) async throws -> R {
        try await perform { libpq in
            let responseTimeout = libpq.responseTimeout
            if let limit { libpq.responseTimeout = min(limit, responseTimeout) }
            defer { libpq.responseTimeout = responseTimeout }
            let session = PostgresSession(libpq)
            defer { session.invalidate() }
            let result = Result { try body(session) }
            guard libpq.isInTransaction else { return try result.get() }
            libpq.rollBack()
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
    public func transaction<R: Sendable>(
        _ mode: PostgresTransactionMode = .readWrite,
        _ body: @Sendable (PostgresSession) throws -> R
    ) async throws -> R {
        try await transaction(mode, deciding: { .commit(try body($0)) })
    }

    /// Runs `body` in a transaction that it has committed or rolled back: see ``PostgresTransactionEnd``.
    ///
    /// Otherwise like ``transaction(_:_:)``; what `body` throws rolls back as well.
    @discardableResult
    public func transaction<R: Sendable>(
        _ mode: PostgresTransactionMode = .readWrite,
        deciding body: @Sendable (PostgresSession) throws -> PostgresTransactionEnd<R>
    ) async throws -> R {
        try await perform { libpq in
            try libpq.execute(mode.beginStatement, isCancellable: true)
            let session = PostgresSession(libpq)
            do {
                defer { session.invalidate() }
                switch try body(session) {
                case .commit(let value):
                    try libpq.commit(firstServerError: session.firstServerError)
                    return value
                case .rollback(let value):
                    libpq.rollBack()
                    return value
                }
            } catch {
                libpq.rollBack()
                throw error
            }
        }
    }
}

/// The access mode and isolation level of a transaction. They never depend on the session's defaults.
public enum PostgresTransactionMode: Sendable {
    /// Reads and writes; each statement sees what was committed before it (`READ COMMITTED`).
    case readWrite
    /// Reads and writes; all statements see the same moment, and a write fails with `serialization_failure` where another
    /// transaction has written meanwhile.
    case repeatableRead
    /// Reads only; all statements see the same moment.
    case repeatableReadReadOnly

    var beginStatement: String {
        switch self {
        case .readWrite: "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
        case .repeatableRead: "BEGIN ISOLATION LEVEL REPEATABLE READ READ WRITE"
        case .repeatableReadReadOnly: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        }
    }
}

/// How a transaction ends, with its value.
public enum PostgresTransactionEnd<Value> {
    /// The writes are committed.
    case commit(Value)
    /// The writes are rolled back.
    case rollback(Value)
}

extension PostgresTransactionEnd: Sendable where Value: Sendable {}
