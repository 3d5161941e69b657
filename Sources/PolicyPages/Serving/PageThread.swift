import Foundation
import Glibc
import Synchronization

/// The one thread on which pages are read and written, at a lower priority than that of checks.
final class PageThread: SerialExecutor {
    /// What the thread shares with its owner; it does not keep the owner, so that the end of that ends the thread.
    private final class Work: Sendable {
        /// The jobs that wait; nil: there will be no more.
        private let jobs = Mutex<[UnownedJob]?>([])
        private let signal = DispatchSemaphore(value: 0)

        func change(_ body: (inout [UnownedJob]?) -> Void) {
            jobs.withLock { body(&$0) }
            signal.signal()
        }

        /// Waits for jobs; nil at the end.
        func next() -> [UnownedJob]? {
            signal.wait()
            return jobs.withLock { jobs in
                defer { if jobs != nil { jobs = [] } }
                return jobs
            }
        }
    }

    /// As pages of a busy machine must come too, it is not the lowest priority.
    static let niceness: CInt = 5

    private let work = Work()

    init() {
        let work = work
        Thread { [weak self] in
            // On Linux a thread is what setpriority calls a process, and 0 is the calling one.
            _ = setpriority(Int32(PRIO_PROCESS.rawValue), 0, Self.niceness)
            while let jobs = work.next() {
                for job in jobs {
                    guard let self else { return }
                    job.runSynchronously(on: self.asUnownedSerialExecutor())
                }
            }
        }.start()
    }

    deinit { work.change { $0 = nil } }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        work.change { $0?.append(job) }
    }
}
