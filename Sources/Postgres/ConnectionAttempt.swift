import Synchronization

/// An attempt to connect that its caller need not await to the end.
///
/// libpq's connecting cannot be interrupted; a cancelled caller goes on at once, and what the attempt gives later is
/// dropped, which closes it.
final class ConnectionAttempt: Sendable {
    private typealias Waiter = CheckedContinuation<Result<PostgresConnection, PostgresError>, Never>

    private enum State {
        case idle
        case waiting(Waiter)
        case finished(Result<PostgresConnection, PostgresError>)
    }

    private let state = Mutex(State.idle)

    func result() async -> Result<PostgresConnection, PostgresError> {
        await withCheckedContinuation { continuation in
            let known = state.withLock { state -> Result<PostgresConnection, PostgresError>? in
                if case .finished(let result) = state { return result }
                state = .waiting(continuation)
                return nil
            }
            if let known { continuation.resume(returning: known) }
        }
    }

    /// Gives the result; only the first call counts.
    func finish(_ result: Result<PostgresConnection, PostgresError>) {
        let continuation = state.withLock { state -> Waiter? in
            switch state {
            case .idle:
                state = .finished(result)
                return nil
            case .waiting(let continuation):
                state = .finished(.failure(PostgresError(.cancelled, "the attempt is over")))
                return continuation
            case .finished:
                return nil
            }
        }
        continuation?.resume(returning: result)
    }
}
