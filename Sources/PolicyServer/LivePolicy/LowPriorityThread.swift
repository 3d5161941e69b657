import Foundation
import Glibc

/// Runs long work that is not urgent, outside the event loops and the threads of Swift concurrency.
enum LowPriorityThread {
    /// Runs `body` on a new thread of low priority.
    static func run<Result: Sendable>(
        _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            start { continuation.resume(with: Swift.Result { try body() }) }
        }
    }

    /// Begins to run `body` on a new thread of low priority.
    static func start(_ body: @escaping @Sendable () -> Void) {
        Thread {
            lowerPriority()
            body()
        }
        .start()
    }

    /// On Linux a thread is what setpriority calls a process, and 0 is the calling one.
    private static func lowerPriority() {
        _ = setpriority(Int32(PRIO_PROCESS.rawValue), 0, 5)
    }
}
