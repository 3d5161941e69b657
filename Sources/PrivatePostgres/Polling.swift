/// Asks again every ten milliseconds until the answer is true.
///
/// - Throws: `.timeout` naming the purpose when the time is over, `.cancelled` with the task.
func poll(
    within limit: Duration,
    purpose: @autoclosure () -> String,
    _ isDone: () async throws(PrivatePostgresError) -> Bool
) async throws(PrivatePostgresError) {
    let deadline = ContinuousClock.now + limit
    while try await !isDone() {
        guard ContinuousClock.now < deadline else {
            throw PrivatePostgresError(.timeout, "waited \(limit) in vain for \(purpose())")
        }
        do {
            try await Task.sleep(for: .milliseconds(10))
        } catch {
            throw PrivatePostgresError(.cancelled, "the task was cancelled while it waited for \(purpose())")
        }
    }
}
