// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Foundation

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Work that takes long and is not urgent, away from the event loops and from the threads of Swift's concurrency.
enum LowPriorityThread {
    /// Runs `body` on a thread of its own, to which the system prefers others.
    static func run<Result: Sendable>(
        named name: String,
        _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            let thread = Thread {
                lowerPriority()
                continuation.resume(with: Swift.Result { try body() })
            }
            thread.name = name
            thread.start()
        }
    }

    /// On Linux a thread is what setpriority calls a process, and 0 is the calling one. Elsewhere nothing happens.
    private static func lowerPriority() {
        #if os(Linux)
            let process = 0  // PRIO_PROCESS, which the C libraries declare with different types
            _ = setpriority(.init(process), 0, 5)
        #endif
    }
}
