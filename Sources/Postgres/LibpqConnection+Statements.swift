import CLibpq

extension LibpqConnection {
    /// Sends one statement with parameters and reads its whole result.
    func query(
        _ sql: String,
        _ parameters: PostgresParameters,
        isCancellable: Bool
    ) throws(PostgresError) -> PostgresResultStorage {
        try send(sql, parameters, isCancellable: isCancellable)
        guard let result = try finish(isCancellable: isCancellable) else {
            throw PostgresError(.server, "the statement is empty")
        }
        return result
    }

    /// Sends one statement with parameters and hands over its rows one by one as they arrive.
    ///
    /// When `body` throws, the rest of the rows is read and dropped, so that the connection stays usable.
    func query(
        _ sql: String,
        _ parameters: PostgresParameters,
        forEach body: (PostgresRow) throws -> Void
    ) throws {
        try send(sql, parameters, isCancellable: true)
        guard PQsetSingleRowMode(connection) == 1 else { throw lost() }
        var columns: PostgresColumns?
        var failure: (any Error)?
        while let result = try nextResult(isCancellable: true) {
            guard PQresultStatus(result) == PGRES_SINGLE_TUPLE else {
                if let error = try take(result).error { failure = failure ?? error }
                continue
            }
            let storage = PostgresResultStorage(result, columns: columns)
            columns = storage.columns
            guard failure == nil else { continue }
            do {
                try body(PostgresRow(storage: storage, index: 0))
            } catch {
                failure = error
            }
        }
        if let failure {
            closeIfLost(failure)
            throw failure
        }
    }

    /// Sends statements without parameters, separated by semicolons. The first that fails ends them.
    ///
    /// Returns the result of the last; nil if there was none.
    @discardableResult
    func execute(_ sql: String, isCancellable: Bool) throws(PostgresError) -> PostgresResultStorage? {
        try check(sql, isCancellable: isCancellable)
        guard PQsendQuery(connection, sql) == 1 else { throw lost() }
        try flush(isCancellable: isCancellable)
        return try finish(isCancellable: isCancellable)
    }

    private func send(
        _ sql: String,
        _ parameters: PostgresParameters,
        isCancellable: Bool
    ) throws(PostgresError) {
        try check(sql, isCancellable: isCancellable)
        let wasSent = parameters.withPointers { count, types, values, lengths, formats in
            PQsendQueryParams(connection, sql, count, types, values, lengths, formats, 1)
        }
        guard wasSent == 1 else { throw lost() }
        try flush(isCancellable: isCancellable)
    }

    private func check(_ sql: String, isCancellable: Bool) throws(PostgresError) {
        guard isOpen else { throw PostgresError(.closed, "the connection is closed") }
        guard !sql.utf8.contains(0) else {
            throw PostgresError(.encoding, "the text of a statement contains a NUL character")
        }
        if isCancellable, Task.isCancelled { throw PostgresError(.cancelled, "the task was cancelled") }
    }

    /// Writes what libpq has not sent yet, reading meanwhile so that neither side waits for the other.
    private func flush(isCancellable: Bool) throws(PostgresError) {
        while true {
            switch PQflush(connection) {
            case 0: return
            case 1:
                if try wait(for: .readingAndWriting, isCancellable: isCancellable) { try consume() }
            default: throw lost()
            }
        }
    }

    /// The next result, or nil after the last.
    ///
    /// When the connection breaks, the result is an error: the server's last words if it had any, else libpq's.
    private func nextResult(isCancellable: Bool) throws(PostgresError) -> OpaquePointer? {
        while PQisBusy(connection) == 1 {
            if try wait(for: .reading, isCancellable: isCancellable), PQconsumeInput(connection) == 0 { break }
        }
        return PQgetResult(connection)
    }

    /// Reads all results of what was sent, and returns the last or throws the first error.
    private func finish(isCancellable: Bool) throws(PostgresError) -> PostgresResultStorage? {
        var last: PostgresResultStorage?
        var failure: PostgresError?
        while let result = try nextResult(isCancellable: isCancellable) {
            let (storage, error) = try take(result)
            last = storage ?? last
            failure = failure ?? error
        }
        if let failure {
            closeIfLost(failure)
            throw failure
        }
        return last
    }

    /// Owns a result: wraps a good one, turns a bad one into its error, and refuses COPY.
    private func take(
        _ result: OpaquePointer
    ) throws(PostgresError) -> (storage: PostgresResultStorage?, error: PostgresError?) {
        switch PQresultStatus(result) {
        case PGRES_TUPLES_OK, PGRES_COMMAND_OK:
            return (PostgresResultStorage(result), nil)
        case PGRES_EMPTY_QUERY:
            PQclear(result)
            return (nil, nil)
        case PGRES_COPY_IN, PGRES_COPY_OUT, PGRES_COPY_BOTH:
            PQclear(result)
            close()
            throw PostgresError(
                .misuse, "COPY from or to the client is not supported; the connection is closed",
                hint: "Use INSERT and SELECT, or run the statement in psql."
            )
        default:
            defer { PQclear(result) }
            return (nil, PostgresError(result: result))
        }
    }

    private func closeIfLost(_ error: any Error) {
        if let error = error as? PostgresError, error.code == .connectionLost { close() }
    }
}
