import Foundation
import Glibc
import NIOCore

/// How many processors this process may use.
package enum AvailableProcessors {
    /// The least of what the machine has, what a container's quota grants, and what `taskset` or systemd allows.
    package static var count: Int { max(1, min(System.coreCount, allowedByAffinity ?? .max)) }

    /// The size of the scheduler's affinity mask, from `/proc/self/status`; nil where that cannot be read.
    private static var allowedByAffinity: Int? {
        guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
            let line = status.split(separator: "\n").first(where: { $0.hasPrefix("Cpus_allowed:") })
        else { return nil }
        return line.dropFirst("Cpus_allowed:".count).reduce(0) { $0 + ($1.hexDigitValue?.nonzeroBitCount ?? 0) }
    }
}

enum Machine {
    /// What this machine calls itself.
    static let name: String = {
        var name = utsname()
        uname(&name)
        return withUnsafeBytes(of: name.nodename) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }()

    /// Lets each piece of memory from a quarter of a MiB on, such as answers that clients leave unread, go back to the
    /// system when it is freed.
    ///
    /// glibc would raise the size from which it does so with each piece that is freed, up to 32 MiB, and keep the rest for
    /// ever: measured, 240 of 320 MB after 100 answers of 3.6 MB that nobody read.
    static func giveBackLargeMemory() {
        // M_MMAP_THRESHOLD of malloc.h, which Swift's module of the C library does not have.
        let mmapThreshold: Int32 = -3
        typealias Function = @convention(c) (Int32, Int32) -> Int32
        guard let mallopt = dlsym(nil, "mallopt") else { return }
        _ = unsafeBitCast(mallopt, to: Function.self)(mmapThreshold, 262_144)
    }
}

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
            // On Linux a thread is what setpriority calls a process, and 0 is the calling one.
            _ = setpriority(Int32(PRIO_PROCESS.rawValue), 0, 5)
            body()
        }
        .start()
    }
}
