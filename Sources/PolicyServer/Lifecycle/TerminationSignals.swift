import Foundation
import Synchronization

/// Handles SIGTERM and SIGINT: asks the server to end, and ends the process if the server does not end in time.
///
/// Both is done by threads that exist from the start and need no memory, no further thread and none of Swift's
/// concurrency until then: a process that can get no memory or threads any more still ends. So signals are not taken
/// from libdispatch, which must create a thread before it delivers one.
///
/// There is one for a process, because signals are the process's.
enum TerminationSignals {
    /// The exit status of a process that did not end in time.
    static let statusOfLastResort: Int32 = 1

    private static let request = SignalWakeup()
    private static let lastResort = SignalWakeup()
    private static let onSignal = Mutex<@Sendable () -> Void>({})

    /// Starts the two threads; call it once, before anything that can use up memory.
    ///
    /// - Parameter limit: How long after the first signal the process is ended.
    static func prepare(endingWithin limit: Duration) {
        // Created here, because the signal handler must not create them.
        let (request, lastResort) = (request, lastResort)
        SignalWakeup.startThread("last-resort") {
            lastResort.wait()
            let end = ContinuousClock.now + limit
            while true {
                let rest = end - .now
                guard rest > .zero else { endProcess() }
                // A further signal may end this wait early.
                _ = poll(nil, 0, Int32(clamping: Int64(rest / .milliseconds(1)) + 1))
            }
        }
        SignalWakeup.startThread("termination") {
            while true {
                request.wait()
                onSignal.withLock { $0 }()
            }
        }
    }

    /// From now on SIGTERM and SIGINT call `body`, on a thread of its own, instead of ending the process.
    static func trap(_ body: @escaping @Sendable () -> Void) {
        onSignal.withLock { $0 = body }
        for number in [SIGTERM, SIGINT] {
            signal(number) { _ in
                let error = errno
                TerminationSignals.lastResort.signal()
                TerminationSignals.request.signal()
                errno = error
            }
        }
    }

    /// Ends the process at once, and says so if standard error takes it.
    private static func endProcess() -> Never {
        // The line must not delay the end: where nobody reads it, the alarm ends the process.
        signal(SIGALRM, SIG_DFL)
        alarm(1)
        let line: StaticString = "The server did not end in time; what was left is cut off\n"
        line.withUTF8Buffer { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) }
        _exit(statusOfLastResort)
    }
}
