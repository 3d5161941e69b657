/// The database did not do in time what it was asked to.
private struct TooSlow: Error, CustomStringConvertible {
    let limit: Duration
    var description: String { "the database did not do it within \(limit)" }
}

/// Does work on the database, and gives it up where it takes longer than a limit.
func withTimeLimit<Result: Sendable>(
    _ limit: Duration,
    _ work: @escaping @Sendable () async throws -> Result
) async throws -> Result {
    try await withThrowingTaskGroup(of: Result.self) { tasks in
        tasks.addTask { try await work() }
        tasks.addTask {
            try await Task.sleep(for: limit)
            throw TooSlow(limit: limit)
        }
        defer { tasks.cancelAll() }
        guard let result = try await tasks.next() else { throw CancellationError() }
        return result
    }
}
