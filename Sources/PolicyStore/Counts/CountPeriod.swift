package import UpdatePolicy

/// The steps of time in which counts are shown: the last 24 hours one by one, or whole days (UTC).
///
/// Counts keep their hours for a week, so days are all that is left of longer periods.
package struct CountPeriod: Sendable, Equatable {
    package enum Step: String, Sendable {
        case hour
        case day
    }

    package let days: Int
    package let step: Step
    /// When each step begins, in order; the last one is not over.
    package let starts: [Timestamp]
    let end: Timestamp

    /// The steps of the last days: 24 hours for one day, else the days and what there is of today.
    ///
    /// - Parameter days: How many days; at least 1.
    package init(days: Int, at time: Timestamp) {
        self.days = max(1, days)
        end = time
        let day: Int64 = 86_400_000_000
        if self.days == 1 {
            step = .hour
            let last = CountStore.startOfHour(time)
            starts = (0..<24).map { last.advanced(byMicroseconds: ($0 - 23) * day / 24) }
        } else {
            step = .day
            let last = CountStore.startOfDay(time, daysAgo: 0)
            starts = (0...Int64(self.days)).map { last.advanced(byMicroseconds: ($0 - Int64(days)) * day) }
        }
    }

    package var start: Timestamp { starts[0] }

    /// The period in words: `the last 24 hours`, `the last 7 days`.
    package var text: String { step == .hour ? "the last 24 hours" : "the last \(days) days" }
}
