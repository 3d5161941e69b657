import Foundation
import Synchronization

/// The places for tests that run servers of their own: two for each processor.
///
/// A server that starts while many others do the same takes minutes, and keeps every other test waiting.
public enum ServerPlaces {
    private struct State {
        var free = 2 * ProcessInfo.processInfo.activeProcessorCount
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private static let state = Mutex(State())
    @TaskLocal private static var isHeld = false

    /// Runs `body` in a place. A test that has one keeps it for all of its servers.
    public static func take<Result: Sendable>(
        _ body: () async throws -> Result
    ) async throws -> Result {
        guard !isHeld else { return try await body() }
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                guard state.free > 0 else {
                    state.waiting.append(continuation)
                    return false
                }
                state.free -= 1
                return true
            }
            if isFree { continuation.resume() }
        }
        defer { giveBack() }
        return try await $isHeld.withValue(true, operation: body)
    }

    private static func giveBack() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
            state.free += 1
            return nil
        }
        next?.resume()
    }
}
