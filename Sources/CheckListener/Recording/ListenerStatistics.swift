import Synchronization

/// What the package listener has counted since it started.
package final class ListenerStatistics: Sendable {
    let admission = EventLoopStatistics()
    let accepted = Atomic(0)
    let open = Atomic(0)
    private let loops = Mutex<[EventLoopStatistics]>([])

    /// Creates counters that are all zero.
    package init() {}

    /// How many connections were accepted.
    package var acceptedConnections: Int { accepted.load(ordering: .relaxed) }

    /// How many connections there are now.
    package var openConnections: Int { open.load(ordering: .relaxed) }

    /// How many clients were refused, or connections ended, for a reason.
    package func refusals(_ reason: RefusalReason) -> Int {
        admission.refusals[reason] + loops.withLock { $0.reduce(0) { $0 + $1.refusals[reason] } }
    }

    /// How many requests were answered with a problem document of a status.
    package func problems(_ status: ProblemStatus) -> Int {
        loops.withLock { $0.reduce(0) { $0 + $1.problems[status] } }
    }

    /// How long requests took, by their kinds.
    package var requests: [RequestKind: DurationHistogram] {
        var all: [RequestKind: DurationHistogram] = [:]
        for loop in loops.withLock({ $0 }) {
            for (kind, histogram) in loop.requests.histograms { all[kind, default: DurationHistogram()].add(histogram) }
        }
        return all
    }

    /// Adds the counters of one more event loop.
    func makeEventLoopStatistics() -> EventLoopStatistics {
        let statistics = EventLoopStatistics()
        loops.withLock { $0.append(statistics) }
        return statistics
    }
}

/// What one event loop counts of its connections; no other one writes here, so that counting does not wait.
final class EventLoopStatistics: Sendable {
    let refusals = CounterSet<RefusalReason>()
    let problems = CounterSet<ProblemStatus>()
    let requests = RequestRecorder()

    /// Counts a problem document, and the refusal that its status stands for.
    func count(_ response: Status) {
        guard let status = ProblemStatus(response) else { return }
        problems.increment(status)
        if let reason = RefusalReason(status: status) {
            refusals.increment(reason)
        }
    }
}

/// A counter for each case of an enumeration, which threads may raise and read at once.
final class CounterSet<Key: CaseIterable & RawRepresentable & Sendable>: Sendable where Key.RawValue == Int {
    private final class Counter: Sendable {
        let count = Atomic(0)
    }

    private let counters = Key.allCases.map { _ in Counter() }

    /// Counts one more.
    func increment(_ key: Key) {
        counters[key.rawValue].count.wrappingAdd(1, ordering: .relaxed)
    }

    /// How many were counted.
    subscript(key: Key) -> Int {
        counters[key.rawValue].count.load(ordering: .relaxed)
    }
}
