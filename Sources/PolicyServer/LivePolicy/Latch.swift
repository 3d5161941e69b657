/// A latch: tasks wait until it opens, which it does once.
struct Latch: Sendable {
    private let stream: AsyncStream<Never>
    private let continuation: AsyncStream<Never>.Continuation

    init() {
        (stream, continuation) = AsyncStream.makeStream()
    }

    /// Opens the latch; opening it again changes nothing.
    func open() {
        continuation.finish()
    }

    /// Waits until the latch is open.
    ///
    /// - Throws: `CancellationError` if the task is cancelled first.
    func wait() async throws {
        for await _ in stream {}
        try Task.checkCancellation()
    }
}
