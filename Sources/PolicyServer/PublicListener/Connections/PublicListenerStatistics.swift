// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Synchronization

/// What the public listener has counted since it started.
public final class PublicListenerStatistics: Sendable {
    let admission = LoopStatistics()
    let accepted = Atomic(0)
    let open = Atomic(0)
    private let loops = Mutex<[LoopStatistics]>([])

    /// Creates counters that are all zero.
    public init() {}

    /// How many connections were accepted.
    public var acceptedConnections: Int { accepted.load(ordering: .relaxed) }

    /// How many connections there are now.
    public var openConnections: Int { open.load(ordering: .relaxed) }

    /// How many clients were refused, or connections ended, for a reason.
    public func refusals(_ reason: RefusalReason) -> Int {
        admission.refusals[reason] + loops.withLock { $0.reduce(0) { $0 + $1.refusals[reason] } }
    }

    /// How many requests were answered with a problem document of a status.
    public func problems(_ status: ProblemStatus) -> Int {
        loops.withLock { $0.reduce(0) { $0 + $1.problems[status] } }
    }

    /// How long requests took, by their kinds.
    var requests: [RequestKind: DurationHistogram] {
        var all: [RequestKind: DurationHistogram] = [:]
        for loop in loops.withLock({ $0 }) {
            for (kind, histogram) in loop.requests.histograms { all[kind, default: DurationHistogram()].add(histogram) }
        }
        return all
    }

    /// Adds the counters of one more event loop.
    func makeLoopStatistics() -> LoopStatistics {
        let statistics = LoopStatistics()
        loops.withLock { $0.append(statistics) }
        return statistics
    }
}
