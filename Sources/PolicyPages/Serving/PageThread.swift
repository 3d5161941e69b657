import Foundation
import Glibc
import Synchronization

/// The one thread on which pages are read and written, at a lower priority than that of checks.
final class PageThread: SerialExecutor {
    /// What the thread shares with its owner; it does not keep the owner, so that the end of that ends the thread.
    private final class Work: Sendable {
        private struct State {
            var jobs: [UnownedJob] = []
            var isOver = false
        }

        private let state = Mutex(State())
        private let signal = DispatchSemaphore(value: 0)

        func add(_ job: UnownedJob) {
            state.withLock { $0.jobs.append(job) }
            signal.signal()
        }

        func end() {
            state.withLock { $0.isOver = true }
            signal.signal()
        }

        /// Waits for jobs; nil at the end.
        func next() -> [UnownedJob]? {
            signal.wait()
            return state.withLock { state in
                if state.jobs.isEmpty, state.isOver { return nil }
                defer { state.jobs = [] }
                return state.jobs
            }
        }
    }

    /// As pages of a busy machine must come too, it is not the lowest priority.
    static let niceness: CInt = 5

    private let work = Work()

    init() {
        let work = work
        let thread = Thread { [weak self] in
            // On Linux a thread is what setpriority calls a process, and 0 is the calling one.
            _ = setpriority(Int32(PRIO_PROCESS.rawValue), 0, Self.niceness)
            while let jobs = work.next() {
                for job in jobs {
                    guard let self else { return }
                    job.runSynchronously(on: self.asUnownedSerialExecutor())
                }
            }
        }
        thread.start()
    }

    deinit { work.end() }

    func enqueue(_ job: consuming ExecutorJob) { work.add(UnownedJob(job)) }
}
