// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Synchronization

/// Counts the requests that one event loop answers.
///
/// The lock is the event loop's alone but for the moments in which metrics are read.
final class RequestRecorder: Sendable {
    private struct State {
        var answeredChecks = DurationHistogram()
        var others: [RequestKind: DurationHistogram] = [:]
    }

    private let state = Mutex(State())

    /// Counts requests that were answered together.
    ///
    /// - Parameter duration: From when they had arrived until all were answered, in nanoseconds.
    func record(_ kinds: [RequestKind], duration: UInt64) {
        state.withLock { state in
            for kind in kinds {
                if kind == .answeredCheck {
                    state.answeredChecks.record(duration)
                } else {
                    state.others[kind, default: DurationHistogram()].record(duration)
                }
            }
        }
    }

    /// What was counted so far.
    var histograms: [RequestKind: DurationHistogram] {
        state.withLock { state in
            var histograms = state.others
            if state.answeredChecks.count > 0 { histograms[.answeredCheck] = state.answeredChecks }
            return histograms
        }
    }
}
