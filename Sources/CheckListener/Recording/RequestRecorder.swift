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
    /// - Parameters:
    ///   - checks: How many of them were of the most frequent kind.
    ///   - others: The kinds of the others.
    ///   - duration: From when they had arrived until all were answered, in nanoseconds.
    func record(checks: Int, _ others: [RequestKind], duration: UInt64) {
        state.withLock { state in
            if checks > 0 { state.answeredChecks.record(duration, count: UInt64(checks)) }
            for kind in others { state.others[kind, default: DurationHistogram()].record(duration) }
        }
    }

    var histograms: [RequestKind: DurationHistogram] {
        state.withLock { state in
            var histograms = state.others
            if state.answeredChecks.count > 0 { histograms[.answeredCheck] = state.answeredChecks }
            return histograms
        }
    }
}

/// The labels of a request in metrics.
package struct RequestKind: Hashable, Sendable {
    /// The route that was asked for; paths that are not served are one.
    package enum Route: String, Sendable, CaseIterable {
        case check = "/v1/check"
        case legacyCheck = "/tables/vLoadMessages"
        case feed = "/v1/feeds"
        case lookup = "/lookup"
        case gate = "/v1/gate"
        case releases = "/v1/releases"
        case other = "other"
    }

    /// The method; those that no route knows are one.
    package enum Method: String, Sendable, CaseIterable {
        case get = "GET"
        case head = "HEAD"
        case post = "POST"
        case options = "OPTIONS"
        case other = "_OTHER"
    }

    package let route: Route
    package let method: Method
    package let status: UInt16

    /// The most frequent kind, which is not looked for.
    static let answeredCheck = RequestKind(route: .check, method: .post, status: 200)
}
