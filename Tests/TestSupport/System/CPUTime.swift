import Glibc

/// The CPU time of the calling thread: what others do on the machine at the same time is not in it.
package enum CPUTime {
    /// The least that a body takes in several runs, in nanoseconds.
    package static func least(of runs: Int, _ body: () throws -> Void) rethrows -> UInt64 {
        var least = UInt64.max
        for _ in 0..<runs {
            let start = now
            try body()
            least = min(least, now - start)
        }
        return least
    }

    private static var now: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
