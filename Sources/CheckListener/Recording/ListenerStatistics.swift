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
        admission.refusals[reason] + loops.withLock { $0.reduce(0) { $0 + $1.refusals[reason] } }
    }

    package var requests: [RequestKind: DurationHistogram] {
        var all: [RequestKind: DurationHistogram] = [:]
        for loop in loops.withLock({ $0 }) {
            for (kind, histogram) in loop.requests.histograms { all[kind, default: DurationHistogram()].add(histogram) }
        }
        return all
    }

    func makeEventLoopStatistics() -> EventLoopStatistics {
        let statistics = EventLoopStatistics()
        loops.withLock { $0.append(statistics) }
        return statistics
    }
}

/// What one event loop counts of its connections; no other one writes here, so that counting does not wait.
final class EventLoopStatistics: Sendable {
    let refusals = RefusalCounts()
    let requests = RequestRecorder()

    /// Counts the refusal that a status of a problem document stands for.
    func count(_ status: Status) {
        if let reason = RefusalReason(status: status) { refusals.increment(reason) }
    }
}

/// How many clients were refused, or connections ended, by reason.
final class RefusalCounts: Sendable {
    private let counts = Mutex<[RefusalReason: Int]>([:])

    func increment(_ reason: RefusalReason) { counts.withLock { $0[reason, default: 0] += 1 } }

    subscript(reason: RefusalReason) -> Int { counts.withLock { $0[reason, default: 0] } }
}
