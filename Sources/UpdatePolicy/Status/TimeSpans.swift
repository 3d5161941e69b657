// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// A set of times: spans from one moment, inclusive, to another, exclusive.
struct TimeSpans: Sendable, Equatable {
    /// Sorted, none of them empty, and none touches the next.
    private(set) var spans: [Range<Timestamp>]
    static let always = TimeSpans(from: nil, until: nil)
    static let never = TimeSpans([])

    /// The times in any of some spans.
    init(_ spans: [Range<Timestamp>]) {
        self.spans = []
        for span in spans.sorted(by: { $0.lowerBound < $1.lowerBound }) where !span.isEmpty {
            if let last = self.spans.last, span.lowerBound <= last.upperBound {
                self.spans[self.spans.count - 1] = last.lowerBound..<max(last.upperBound, span.upperBound)
            } else {
                self.spans.append(span)
            }
        }
    }

    /// The times from one moment to another; `nil` is no bound.
    init(from start: Timestamp?, until end: Timestamp?) {
        let lower = start ?? .earliest
        let upper = end ?? .latest
        self.init(lower < upper ? [lower..<upper] : [])
    }

    /// The moments at which a time begins or ceases to be in the set.
    var bounds: [Timestamp] {
        spans.flatMap { [$0.lowerBound, $0.upperBound] }.filter { $0 != .earliest && $0 != .latest }
    }

    func contains(_ time: Timestamp) -> Bool { spans.contains { $0.contains(time) } }

    func union(_ other: TimeSpans) -> TimeSpans {
        if other.spans.isEmpty { return self }
        return spans.isEmpty ? other : TimeSpans(spans + other.spans)
    }

    func intersection(_ other: TimeSpans) -> TimeSpans {
        TimeSpans(spans.flatMap { span in other.spans.map { span.clamped(to: $0) } })
    }

    func subtracting(_ other: TimeSpans) -> TimeSpans {
        var gaps: [Range<Timestamp>] = []
        var start = Timestamp.earliest
        for span in other.spans {
            gaps.append(start..<span.lowerBound)
            start = span.upperBound
        }
        gaps.append(start ..< .latest)
        return intersection(TimeSpans(gaps))
    }
}
