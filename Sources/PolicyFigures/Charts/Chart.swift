// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

public import UpdatePolicy

/// A chart before it is drawn: a question, its answer in words, and the numbers that show it.
///
/// Pages draw it as SVG with a table, the command line with characters, and both write the same numbers as CSV.
public struct Chart: Sendable, Equatable {
    /// How the series stand to each other.
    public enum Shape: Sendable, Equatable {
        /// Parts of a whole over time, one upon the other.
        case stackedAreas
        /// Values of their own over time.
        case lines
        /// A bar for each place on the axis.
        case bars
    }

    /// What the values are counted in.
    public enum Unit: Sendable, Equatable {
        /// Checks.
        case checks
        /// Parts of a whole, from 0 to 1; shown in percent.
        case share
    }

    /// What the values stand above.
    public enum Axis: Sendable, Equatable {
        /// Moments, in order; each value holds for the time until the next one, the last as long as the one before.
        case time([Timestamp])
        /// Times since something began, in microseconds, in order.
        case elapsed([Int64])
        /// Names, in the order in which they are shown. A time in one is a word in ISO 8601, for those who draw it to spell.
        case names([String])

        /// How many places the axis has.
        public var count: Int {
            switch self {
            case .time(let times): times.count
            case .elapsed(let times): times.count
            case .names(let names): names.count
            }
        }
    }

    /// Values with a name.
    public struct Series: Sendable, Equatable {
        /// The name, as a legend shows it.
        public let name: String
        /// A value for each place on the axis; nil where nothing was counted.
        public let values: [Double?]

        /// Creates a series.
        public init(name: String, values: [Double?]) {
            self.name = name
            self.values = values
        }
    }

    /// Something that happened, shown on the axis of time.
    public struct Mark: Sendable, Equatable {
        /// When.
        public let at: Timestamp
        /// The number of the change in the history, by which it is known everywhere.
        public let change: Int64
        /// What, in a few words: `rollout 10 -> 50`.
        public let label: String

        /// Creates a mark.
        public init(at: Timestamp, change: Int64, label: String) {
            self.at = at
            self.change = change
            self.label = label
        }
    }

    /// The name in addresses: `versions`; a-z, digits and hyphens.
    public let name: String
    /// The question that the chart answers: `Which versions are in use?`
    public let question: String
    /// The answer in one or two sentences, with the numbers that matter.
    public let answer: String
    /// How it is drawn.
    public let shape: Shape
    /// What the values are counted in.
    public let unit: Unit
    /// What the values stand above.
    public let axis: Axis
    /// The values, those that matter most first; at most as many as a reader can tell apart, the last may be all others.
    public let series: [Series]
    /// How many checks the shares at each place are parts of; empty where the values are no shares, or of different wholes.
    public let checks: [Int64]
    /// What happened meanwhile, the newest of it, in order of time; empty where the axis is not one of time.
    public let marks: [Mark]

    /// Creates a chart.
    public init(
        name: String,
        question: String,
        answer: String,
        shape: Shape,
        unit: Unit,
        axis: Axis,
        series: [Series],
        checks: [Int64] = [],
        marks: [Mark] = []
    ) {
        self.name = name
        self.question = question
        self.answer = answer
        self.shape = shape
        self.unit = unit
        self.axis = axis
        self.series = series
        self.checks = checks
        self.marks = marks
    }

    /// Whether there is nothing to draw.
    public var isEmpty: Bool { axis.count == 0 || series.allSatisfy { $0.values.allSatisfy { $0 == nil } } }

    /// Whether everything that was counted is nothing, which the answer says better than a picture of a flat line.
    public var isZero: Bool { !isEmpty && series.allSatisfy { $0.values.allSatisfy { ($0 ?? 0) == 0 } } }

    /// Whether the steps of its axis are shorter than a day.
    public var isHourly: Bool {
        switch axis {
        case .time(let times): Self.isHourly(times.map(\.microsecondsSince1970))
        case .elapsed(let times): Self.isHourly(times)
        case .names: false
        }
    }

    private static func isHourly(_ starts: [Int64]) -> Bool {
        starts.count > 1 && starts[1] - starts[0] < 86_400_000_000
    }

    /// A value with all of its digits.
    public static func digits(_ value: Double) -> String { Int64(exactly: value).map { "\($0)" } ?? "\(value)" }
}
