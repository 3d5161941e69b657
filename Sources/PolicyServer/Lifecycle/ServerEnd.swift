import Synchronization

/// That the server is to end: by a signal, or because a part of it has failed.
final class ServerEnd: Sendable {
    /// Something that goes on until it is cancelled, and what it is called in an error.
    typealias Part = (name: String, run: @Sendable () async throws -> Void)

    /// A part has returned although nobody cancelled it.
    struct EndedByItself: Error, CustomStringConvertible {
        let part: String
        var description: String { "a part of the server has ended by itself: \(part)" }
    }

    private let latch = Latch()
    private let fault = Mutex<(any Error)?>(nil)
    private let onRequest: @Sendable () -> Void

    /// - Parameter onRequest: Ends waits for what a part that has failed may not bring any more.
    init(onRequest: @escaping @Sendable () -> Void = {}) {
        self.onRequest = onRequest
    }

    /// Asks the server to end; the first error is why.
    func request(because error: (any Error)? = nil) {
        fault.withLock { first in first = first ?? error }
        latch.open()
        onRequest()
    }

    func requested() async { try? await latch.wait() }

    /// Runs `life`, and meanwhile parts. One that fails, or returns, asks for the end.
    ///
    /// - Parameter life: Opens the server, waits for the end, and closes it.
    /// - Throws: What failed first.
    func run(_ parts: [Part], during life: () async throws -> Void) async throws {
        await withTaskGroup(of: Void.self) { tasks in
            for part in parts {
                tasks.addTask {
                    await self.noting {
                        try await part.run()
                        if !Task.isCancelled { throw EndedByItself(part: part.name) }
                    }
                }
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
