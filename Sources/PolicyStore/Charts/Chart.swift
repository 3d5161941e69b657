package import UpdatePolicy

/// A chart before it is drawn: a question, its answer in words, and the numbers that show it.
///
/// Pages draw it as SVG with a table, the command line with characters, and both write the same numbers as CSV.
package struct Chart: Sendable, Equatable {
    package enum Shape: Sendable, Equatable {
        /// Parts of a whole over time, one upon the other.
        case stackedAreas
        case lines
        case bars
    }

    package enum Unit: Sendable, Equatable {
        case checks
        /// Parts of a whole, from 0 to 1; shown in percent.
        case share
    }

    package enum Axis: Sendable, Equatable {
        /// Moments, in order; each value holds for the time until the next one, the last as long as the one before.
        case time([Timestamp])
        /// Times since something began, in microseconds, in order.
        case elapsed([Int64])
        /// Names, in the order in which they are shown.
        case names([String])

        package var count: Int {
            switch self {
            case .time(let times): times.count
            case .elapsed(let times): times.count
            case .names(let names): names.count
            }
        }
    }

    package struct Series: Sendable, Equatable {
        package let name: String
        /// A value for each place on the axis; nil where nothing was counted.
        package let values: [Double?]

        package init(name: String, values: [Double?]) {
            self.name = name
            self.values = values
        }
    }

    /// Something that happened, shown on the axis of time.
    package struct Mark: Sendable, Equatable {
        package let at: Timestamp
        /// The number of the change in the history, by which it is known everywhere.
        package let change: Int64
        /// What, in a few words: `rollout 10 -> 50`.
        package let label: Sentence

        package init(at: Timestamp, change: Int64, label: Sentence) {
            self.at = at
            self.change = change
            self.label = label
        }
    }

    /// The name in addresses: `versions`; a-z, digits and hyphens.
    package let name: String
    /// The question that the chart answers: `Which versions are in use?`
    package let question: String
    /// The answer in one or two sentences, with the numbers that matter.
    package let answer: String
    package let shape: Shape
    package let unit: Unit
    package let axis: Axis
    /// The names on the axis with their times, for those who write times in another zone than UTC; empty: they have none.
    package let sentences: [Sentence]
    /// The values, those that matter most first; at most as many as a reader can tell apart, the last may be all others.
    package let series: [Series]
    /// The checks that the shares at each place are parts of; empty where the values are no shares, or of different wholes.
    package let checks: [Int64]
    /// The events meanwhile, the newest of them, in order of time; empty where the axis is not one of time.
    package let marks: [Mark]

    package init(
        name: String,
        question: String,
        answer: String,
        shape: Shape,
        unit: Unit,
        axis: Axis,
        sentences: [Sentence] = [],
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
        self.sentences = sentences
        self.series = series
        self.checks = checks
        self.marks = marks
    }

    package var isEmpty: Bool { axis.count == 0 || series.allSatisfy { $0.values.allSatisfy { $0 == nil } } }

    /// Whether everything that was counted is nothing, which the answer says better than a picture of a flat line.
    package var isZero: Bool { !isEmpty && series.allSatisfy { $0.values.allSatisfy { ($0 ?? 0) == 0 } } }

    /// Whether the steps of its axis are shorter than a day.
    package var isHourly: Bool {
        switch axis {
        case .time(let times): Self.isHourly(times.map(\.microsecondsSince1970))
        case .elapsed(let times): Self.isHourly(times)
        case .names: false
        }
    }

    private static func isHourly(_ starts: [Int64]) -> Bool {
        starts.count > 1 && starts[1] - starts[0] < 86_400_000_000
    }

    /// The head of the table of its numbers: what the places are, all checks where there are any, then each series.
    package var head: [Cell] {
        let place =
            switch axis {
            case .time: Cell(digits: "time", text: "from (UTC)")
            case .elapsed: Cell(digits: "elapsed_seconds", text: "after")
            case .names: Cell(digits: "name", text: "what")
            }
        return [place] + (checks.isEmpty ? [] : [Cell(digits: "all_checks", text: "all checks")])
            + series.map { Cell(digits: $0.name, text: $0.name) }
    }

    /// The rows of that table, one for each place on the axis; nil where nothing was counted.
    package var rows: [[Cell?]] {
        (0..<axis.count).map { place in
            let all = checks.isEmpty ? [] : [Cell(digits: "\(checks[place])", text: NumberText.count(checks[place]))]
            let values = series.map { $0.values[place].map { Cell(digits: Self.digits($0), text: text($0)) } }
            return [name(of: place)] + all + values
        }
    }

    private func name(of place: Int) -> Cell {
        switch axis {
        case .time(let times):
            let time = times[place]
            let hour = isHourly ? " \(NumberText.timeOfDay(time))" : ""
            return Cell(digits: "\(time)", text: NumberText.date(time) + hour)
        case .elapsed(let times):
            return Cell(digits: "\(times[place] / 1_000_000)", text: NumberText.duration(microseconds: times[place]))
        case .names(let names): return Cell(digits: names[place], text: names[place])
        }
    }

    /// A number of a chart, or what it is.
    package struct Cell: Sendable, Equatable {
        /// For programs, with all of its digits.
        package let digits: String
        /// For people: `61.0 %`, `12,345`.
        package let text: String
    }

    /// A value for people: `61.0 %`, `12,345`.
    package func text(_ value: Double) -> String {
        unit == .share ? NumberText.percent(value, of: 1) : NumberText.count(Int64(value.rounded()))
    }

    private static func digits(_ value: Double) -> String { Int64(exactly: value).map { "\($0)" } ?? "\(value)" }
}

extension Chart {
    /// The numbers as CSV (RFC 4180): a line for each place on the axis, a column for each series; empty where nothing
    /// was counted.
    package var csv: String {
        ([head] + rows).map { row in row.map { Self.cell($0?.digits ?? "") }.joined(separator: ",") + "\r\n" }.joined()
    }

    /// A text as a cell. One that a spreadsheet would take for a formula gets an apostrophe before it.
    private static func cell(_ text: String) -> String {
        let safe = text.first.map { "=+-@\t\r".contains($0) } == true ? "'" + text : text
        guard safe.contains(where: { $0 == "," || $0 == "\"" || $0.isNewline }) else { return safe }
        return "\"" + safe.replacing("\"", with: "\"\"") + "\""
    }
}

/// A chart that is read when somebody asks for it, so that whoever wants one does not pay for the others.
package struct ChartQuery {
    package let name: String
    private let make: (String) throws -> Chart

    init(_ name: String, _ make: @escaping (String) throws -> Chart) {
        self.name = name
        self.make = make
    }

    /// Reads it, within the transaction of the figures that it is of.
    package func chart() throws -> Chart { try make(name) }
}
