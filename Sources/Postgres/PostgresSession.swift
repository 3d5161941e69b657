import CLibpq

/// Synchronous access to a connection, valid inside `withSession` and `transaction` only.
///
/// Nothing else can use the connection meanwhile. A session that is kept beyond its body answers every call with a
/// `.closed` error.
public final class PostgresSession {
    private var libpq: LibpqConnection?

    /// The first error of the server in this session: what aborted the transaction.
    private(set) var firstServerError: PostgresError?

    init(_ libpq: LibpqConnection) { self.libpq = libpq }

    /// Sends one statement and returns its whole result.
    ///
    /// Parameters stand in it as `$1`, `$2` and so on; nil is NULL.
    @discardableResult
    public func query(
        _ sql: String,
        _ parameters: [(any PostgresEncodable)?] = []
    ) throws(PostgresError) -> PostgresResult {
        try recording { libpq throws(PostgresError) in
            PostgresResult(try libpq.query(sql, PostgresParameters(parameters), isCancellable: true))
        }
    }

    /// Sends one statement and hands over its rows one by one as they arrive, so that a large result is never in
    /// memory as a whole.
    ///
    /// When `body` throws, the rest of the rows is dropped and its error goes on. `body` cannot use the session.
    public func query(
        _ sql: String,
        _ parameters: [(any PostgresEncodable)?] = [],
        forEach body: (PostgresRow) throws -> Void
    ) throws {
        let libpq = try available()
        self.libpq = nil
        defer { self.libpq = libpq }
        do {
            try libpq.query(sql, PostgresParameters(parameters), forEach: body)
        } catch {
            if let error = error as? PostgresError { record(error) }
            throw error
        }
    }

    /// Sends statements without parameters, separated by semicolons. The first that fails ends them.
    public func execute(_ sql: String) throws(PostgresError) {
        try recording { libpq throws(PostgresError) in _ = try libpq.execute(sql, isCancellable: true) }
    }

    /// The process ID of the server process, as the connection received it at its start.
    var backendPID: Int32 { libpq?.backendPID ?? 0 }

    private func available() throws(PostgresError) -> LibpqConnection {
        guard let libpq else { throw PostgresError(.closed, "the session's time is over, or it is reading rows") }
        return libpq
    }

    private func recording<R>(
        _ body: (LibpqConnection) throws(PostgresError) -> R
    ) throws(PostgresError) -> R {
        do {
            return try body(available())
        } catch {
            record(error)
            throw error
        }
    }

    private func record(_ error: PostgresError) {
        if firstServerError == nil, error.code == .server { firstServerError = error }
    }

    func invalidate() { libpq = nil }
}
