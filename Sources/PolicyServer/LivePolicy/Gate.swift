// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// A door that is closed at first, opens once, and lets everybody through from then on.
struct Gate: Sendable {
    private let stream: AsyncStream<Never>
    private let continuation: AsyncStream<Never>.Continuation

    init() {
        (stream, continuation) = AsyncStream.makeStream()
    }

    /// Opens the gate; opening it again changes nothing.
    func open() {
        continuation.finish()
    }

    /// Waits until the gate is open.
    ///
    /// - Throws: `CancellationError` if the task is cancelled first.
    func wait() async throws {
        for await _ in stream {}
        try Task.checkCancellation()
    }
}
