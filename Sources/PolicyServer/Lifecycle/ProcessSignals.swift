import Foundation
import Synchronization

/// The signals of the process, which are told on a thread of their own.
///
/// That thread, and the one of ``LastResort``, exist from the start and need no memory, no further thread and none of Swift's
/// concurrency until then: a process that can get no memory or threads any more still ends. So signals are not taken from
/// libdispatch, which must create a thread before it tells of one.
enum ProcessSignals {
    private static let occurred = SignalWakeup()
    /// A bit for each signal that has come and was not told yet.
    private static let pending = Atomic<UInt64>(0)
    private static let handlers = Mutex<[Int32: @Sendable () -> Void]>([:])
    private static let thread: Void = SignalWakeup.startThread("signals") {
        while true {
            occurred.wait()
            let numbers = pending.exchange(0, ordering: .sequentiallyConsistent)
            for number: Int32 in 1..<64 where numbers & (1 << UInt64(number)) != 0 {
                handlers.withLock { $0[number] }?()
            }
        }
    }

    /// From now on a signal calls `body` instead of ending the process.
    static func trap(_ number: Int32, _ body: @escaping @Sendable () -> Void) {
        handlers.withLock { $0[number] = body }
        // Created here, because the signal handler must not create it.
        _ = (occurred, thread)
        signal(number) { number in
            let error = errno
            ProcessSignals.pending.bitwiseOr(1 << UInt64(number), ordering: .sequentiallyConsistent)
            ProcessSignals.occurred.signal()
            errno = error
        }
    }
}

/// Ends the process, with status 1, if it is still there so long after it was asked to end.
struct LastResort: Sendable {
    private let asked = SignalWakeup()

    init(within limit: Duration) {
        let asked = asked
        SignalWakeup.startThread("last-resort") {
            asked.wait()
            let end = ContinuousClock.now + limit
            while ContinuousClock.now < end {
                // A signal may end this wait early.
                _ = poll(nil, 0, Int32(clamping: Int64((end - .now) / .milliseconds(1)) + 1))
            }
            let line = "The server did not end in time; what was left is cut off\n"
            _ = DescriptorWriter.write(Array(line.utf8), to: STDERR_FILENO, waiting: false)
            _exit(1)
        }
    }

    /// The process is asked to end; only the first time counts.
    func begin() { asked.signal() }
}

/// A semaphore that a signal handler may post, to wake a thread that exists already.
private struct SignalWakeup: @unchecked Sendable {  // sem_post and sem_wait are safe from everywhere; it is never freed
    private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    init() { sem_init(semaphore, 0, 0) }

    func signal() { sem_post(semaphore) }

    func wait() {
        while sem_wait(semaphore) != 0 {}
    }

    /// Starts a thread with a small stack.
    static func startThread(_ name: String, _ body: @escaping @Sendable () -> Void) {
        let thread = Thread(block: body)
        thread.name = name
        thread.stackSize = 256 << 10
        thread.start()
    }
}
