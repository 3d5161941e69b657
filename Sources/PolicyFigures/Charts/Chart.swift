// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

public import UpdatePolicy

/// A chart before it is drawn: a question, its answer in words, and the numbers that show it.
///
/// Pages draw it as SVG with a table, the command line with characters, and both write the same numbers as CSV.
public struct Chart: Sendable, Equatable {
    /// The relation of the series to each other.
    public enum Shape: Sendable, Equatable {
        /// Parts of a whole over time, one upon the other.
        case stackedAreas
        /// Values of their own over time.
        case lines
        /// A bar for each place on the axis.
        case bars
    }

    /// The unit of the values.
    public enum Unit: Sendable, Equatable {
        /// Checks.
        case checks
        /// Parts of a whole, from 0 to 1; shown in percent.
        case share
    }

    /// The axis below the values.
    public enum Axis: Sendable, Equatable {
        /// Moments, in order; each value holds for the time until the next one, the last as long as the one before.
        case time([Timestamp])
        /// Times since something began, in microseconds, in order.
        case elapsed([Int64])
        /// Names, in the order in which they are shown. A time in one is a word in ISO 8601, for those who draw it to spell.
        case names([String])

        /// The number of places on the axis.
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
    /// The shape in which it is drawn.
    public let shape: Shape
    /// The unit of the values.
    public let unit: Unit
    /// The axis below the values.
    public let axis: Axis
    /// The values, those that matter most first; at most as many as a reader can tell apart, the last may be all others.
    public let series: [Series]
    /// The checks that the shares at each place are parts of; empty where the values are no shares, or of different wholes.
    public let checks: [Int64]
    /// The events meanwhile, the newest of them, in order of time; empty where the axis is not one of time.
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

    /// The numbers at each place on the axis, as tables and CSV have them: all checks, where there are any, then each series;
    /// nil where nothing was counted.
    public var rows: [[Cell?]] {
        (0..<axis.count).map { place in
            let all = checks.isEmpty ? [] : [Cell(digits: "\(checks[place])", text: NumberText.count(checks[place]))]
            return all + series.map { $0.values[place].map { Cell(digits: Self.digits($0), text: text($0)) } }
        }
    }

    /// A number of a chart.
    public struct Cell: Sendable {
        /// With all of its digits.
        public let digits: String
        /// For people: `61.0 %`, `12,345`.
        public let text: String
    }

    /// A value for people: `61.0 %`, `12,345`.
    public func text(_ value: Double) -> String {
        unit == .share ? NumberText.percent(value, of: 1) : NumberText.count(Int64(value.rounded()))
    }

    private static func digits(_ value: Double) -> String { Int64(exactly: value).map { "\($0)" } ?? "\(value)" }
}
