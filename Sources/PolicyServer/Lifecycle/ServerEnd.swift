import Synchronization

/// That the server is to end: by a signal, or because a part of it has failed.
final class ServerEnd: Sendable {
    private let latch = Latch()
    private let fault = Mutex<(any Error)?>(nil)

    /// Asks the server to end; the first error is why.
    func request(because error: (any Error)? = nil) {
        fault.withLock { first in first = first ?? error }
        latch.open()
    }

    /// Waits until somebody asks.
    func requested() async { try? await latch.wait() }

    /// Runs `life`, and meanwhile parts that go on until they are cancelled. One that fails asks for the end.
    ///
    /// - Parameter life: Opens the server, waits for the end, and closes it.
    /// - Throws: What failed first.
    func run(
        _ parts: [@Sendable () async throws -> Void],
        during life: () async throws -> Void
    ) async throws {
        await withTaskGroup(of: Void.self) { tasks in
            for part in parts {
                tasks.addTask { await self.noting(part) }
            }
            await noting(life)
            tasks.cancelAll()
        }
        if let error = fault.withLock(\.self) { throw error }
    }

    private func noting(_ part: () async throws -> Void) async {
        do {
            try await part()
        } catch {
            request(because: error)
        }
    }
}

/// A latch: tasks wait until it opens, which it does once.
struct Latch: Sendable {
    private let stream: AsyncStream<Never>
    private let continuation: AsyncStream<Never>.Continuation

    init() {
        (stream, continuation) = AsyncStream.makeStream()
    }

    /// Opens the latch; opening it again changes nothing.
    func open() { continuation.finish() }

    /// Waits until the latch is open.
    ///
    /// - Throws: `CancellationError` if the task is cancelled first.
    func wait() async throws {
        for await _ in stream {}
        try Task.checkCancellation()
    }
}
