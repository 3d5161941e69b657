import Foundation
import Synchronization

/// The signals of the process, which are told on a thread of their own.
///
/// That thread exists from the start and needs no memory, no further thread and none of Swift's concurrency until then, and
/// the alarm of ``LastResort`` is the kernel's: a process that can get no memory or threads any more still ends. So signals are
/// not taken from libdispatch, which must create a thread before it tells of one.
enum ProcessSignals {
    /// Counts the signals that have come; a semaphore is what a signal handler may post. It is never freed.
    private nonisolated(unsafe) static let occurred = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
    /// A bit for each signal that has come and was not told yet.
    private static let pending = Atomic<UInt64>(0)
    private static let handlers = Mutex<[Int32: @Sendable () -> Void]>([:])
    private static let thread: Void = {
        sem_init(occurred, 0, 0)
        let thread = Thread {
            while true {
                while sem_wait(occurred) != 0 {}
                let numbers = pending.exchange(0, ordering: .sequentiallyConsistent)
                for number: Int32 in 1..<64 where numbers & (1 << UInt64(number)) != 0 {
                    handlers.withLock { $0[number] }?()
                }
            }
        }
        thread.name = "signals"
        thread.stackSize = 256 << 10
        thread.start()
    }()

    /// From now on a signal calls `body` instead of ending the process.
    static func trap(_ number: Int32, _ body: @escaping @Sendable () -> Void) {
        handlers.withLock { $0[number] = body }
        // Created here, because the signal handler must not create it.
        _ = thread
        signal(number) { number in
            let error = errno
            ProcessSignals.pending.bitwiseOr(1 << UInt64(number), ordering: .sequentiallyConsistent)
            sem_post(ProcessSignals.occurred)
            errno = error
        }
    }
}

/// Ends the process, with status 1, if it is still there so long after it was asked to end.
final class LastResort: Sendable {
    private let limit: Duration
    private let hasBegun = Atomic(false)

    init(within limit: Duration) {
        self.limit = limit
        signal(SIGALRM) { _ in
            let line: StaticString = "The server did not end in time; what was left is cut off\n"
            var entry = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
            if poll(&entry, 1, 0) > 0 { _ = write(STDERR_FILENO, line.utf8Start, line.utf8CodeUnitCount) }
            _exit(1)
        }
    }

    /// The process is asked to end; only the first time counts.
    func begin() {
        guard !hasBegun.exchange(true, ordering: .relaxed) else { return }
        alarm(UInt32(limit.components.seconds) + 1)
    }
}
