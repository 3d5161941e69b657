import Synchronization

/// What the public listener has counted since it started.
package final class ListenerStatistics: Sendable {
    let admission = EventLoopStatistics()
    let accepted = Atomic(0)
    let open = Atomic(0)
    private let loops = Mutex<[EventLoopStatistics]>([])

    package init() {}

    package var acceptedConnections: Int { accepted.load(ordering: .relaxed) }

    package var openConnections: Int { open.load(ordering: .relaxed) }

    package func refusals(_ reason: RefusalReason) -> Int {
        admission.refusals(reason) + loops.withLock { $0.reduce(0) { $0 + $1.refusals(reason) } }
    }

    package var requests: [RequestKind: DurationHistogram] {
        var all: [RequestKind: DurationHistogram] = [:]
        for loop in loops.withLock({ $0 }) {
            for (kind, histogram) in loop.requests { all[kind, default: DurationHistogram()].add(histogram) }
        }
        return all
    }

    func makeEventLoopStatistics() -> EventLoopStatistics {
        let statistics = EventLoopStatistics()
        loops.withLock { $0.append(statistics) }
        return statistics
    }
}

/// What one event loop counts of its connections and requests.
///
/// The lock is the event loop's alone but for the moments in which metrics are read.
final class EventLoopStatistics: Sendable {
    private struct State {
        var answeredChecks = DurationHistogram()
        var others: [RequestKind: DurationHistogram] = [:]
        var refusals: [RefusalReason: Int] = [:]
    }

    private let state = Mutex(State())

    /// Counts a client that was refused, or a connection that was ended.
    func count(_ reason: RefusalReason) { state.withLock { $0.refusals[reason, default: 0] += 1 } }

    func refusals(_ reason: RefusalReason) -> Int { state.withLock { $0.refusals[reason, default: 0] } }

    /// Counts requests that were answered together.
    ///
    /// - Parameters:
    ///   - checks: How many of them were of the most frequent kind.
    ///   - others: The kinds of the others.
    ///   - duration: From when they had arrived until all were answered, in nanoseconds.
    func count(checks: Int, _ others: [RequestKind], duration: UInt64) {
        state.withLock { state in
            if checks > 0 { state.answeredChecks.record(duration, count: UInt64(checks)) }
            for kind in others { state.others[kind, default: DurationHistogram()].record(duration) }
        }
    }

    var requests: [RequestKind: DurationHistogram] {
        state.withLock { state in
            var requests = state.others
            if state.answeredChecks.count > 0 {
                requests[.answeredCheck, default: DurationHistogram()].add(state.answeredChecks)
            }
            return requests
        }
    }
}
