/// Hedged attempts: each begins while those before it may still succeed, because a lost packet delays an attempt for long.
///
/// The system repeats a lost packet after one, three and seven seconds. A connection that is attempted anew each second
/// is there a second after the network is, however long that was gone.
struct HedgedAttempts: Sendable {
    /// How long after an attempt the next one begins.
    let interval: Duration
    /// How many attempts are under way at most.
    let limit: Int

    /// Makes attempts until one succeeds, or one fails while no other is under way.
    ///
    /// - Parameters:
    ///   - attempt: Ends soon when its task is cancelled.
    ///   - onFailure: Receives the error of an attempt that failed while others go on.
    /// - Throws: the error of the last attempt; `CancellationError`.
    func firstSuccess<Success: Sendable>(
        of attempt: @escaping @Sendable () async throws -> Success,
        onFailure: (any Error) -> Void
    ) async throws -> Success {
        let interval = interval
        return try await withThrowingTaskGroup(of: Event<Success>.self) { group in
            defer { group.cancelAll() }
            func beginAttempt() {
                group.addTask {
                    do {
                        return .success(try await attempt())
                    } catch {
                        return .failure(error)
                    }
                }
                group.addTask {
                    try await Task.sleep(for: interval)
                    return .intervalPassed
                }
            }
            beginAttempt()
            var underWay = 1
            var isDue = false
            while let event = try await group.next() {
                switch event {
                case .success(let success):
                    return success
                case .failure(let error):
                    underWay -= 1
                    guard underWay > 0 else { throw error }
                    onFailure(error)
                case .intervalPassed:
                    isDue = true
                }
                if isDue, underWay < limit {
                    beginAttempt()
                    underWay += 1
                    isDue = false
                }
            }
            throw CancellationError()
        }
    }

    private enum Event<Success: Sendable>: Sendable {
        case success(Success)
        case failure(any Error)
        case intervalPassed
    }
}
