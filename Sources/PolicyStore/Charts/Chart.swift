import Postgres
package import UpdatePolicy

/// A chart before it is drawn: a question, its answer in words, and the numbers that show it. Pages draw it as SVG with a
/// table, the command line with characters, and both write the same numbers as CSV.
package struct Chart: Sendable, Equatable {
    package enum Shape: Sendable {
        case stackedAreas
        case lines
        case bars
    }

    package enum Unit: Sendable {
        case checks
        /// Parts of a whole, from 0 to 1; shown in percent.
        case share
    }

    package enum Axis: Sendable, Equatable {
        /// Moments, in order; each value holds for the time until the next one, the last as long as the one before.
        case time([Timestamp])
        /// Times since something began, in microseconds, in order.
        case elapsed([Int64])
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
    }

    package struct Mark: Sendable, Equatable {
        package let at: Timestamp
        package let change: Int64
        package let label: Sentence
    }

    /// The name in addresses: `versions`; a-z, digits and hyphens.
    package let name: String
    package let question: String
    package let answer: String
    package let shape: Shape
    package let unit: Unit
    package let axis: Axis
    /// The names on the axis with their times, for those who write times in another zone than UTC; empty: they have none.
    package var sentences: [Sentence] = []
    /// The values, those that matter most first; at most as many as a reader can tell apart, the last may be all others.
    package let series: [Series]
    /// The checks that the shares at each place are parts of; empty where there is no such number.
    package var checks: [Int64] = []
    /// The events meanwhile, the newest of them, in order of time; empty where the axis is not one of time.
    package var marks: [Mark] = []

    package var isEmpty: Bool { axis.count == 0 || series.allSatisfy { $0.values.allSatisfy { $0 == nil } } }

    /// Whether everything that was counted is nothing, which the answer says better than a picture of a flat line.
    package var isZero: Bool { !isEmpty && series.allSatisfy { $0.values.allSatisfy { ($0 ?? 0) == 0 } } }

    package var isHourly: Bool {
        let starts: [Int64] =
            switch axis {
            case .time(let times): times.prefix(2).map(\.microsecondsSince1970)
            case .elapsed(let times): times
            case .names: []
            }
        return starts.count > 1 && starts[1] - starts[0] < 86_400_000_000
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

    package struct Cell: Sendable, Equatable {
        package let digits: String
        package let text: String
    }

    package func text(_ value: Double) -> String {
        unit == .share ? NumberText.percent(value, of: 1) : NumberText.count(Int64(value.rounded()))
    }

    private static func digits(_ value: Double) -> String { Int64(exactly: value).map { "\($0)" } ?? "\(value)" }

    /// The numbers as CSV (RFC 4180): a line for each place on the axis, a column for each series.
    package var csv: String {
        ([head] + rows).map { row in row.map { Self.cell($0?.digits ?? "") }.joined(separator: ",") + "\r\n" }.joined()
    }

    /// A text that a spreadsheet would take for a formula gets an apostrophe before it.
    private static func cell(_ text: String) -> String {
        let safe = text.first.map { "=+-@\t\r".contains($0) } == true ? "'" + text : text
        guard safe.contains(where: { $0 == "," || $0 == "\"" || $0.isNewline }) else { return safe }
        return "\"" + safe.replacing("\"", with: "\"\"") + "\""
    }
}

/// A chart that is read when somebody asks for it, so that whoever wants one does not pay for the others.
package struct ChartQuery {
    package let name: String
    let make: (String) throws -> Chart

    package func chart() throws -> Chart { try make(name) }
}

extension Chart {
    package static let others = "others"
    package static let lockout = "lockout"
    private static let mostMarks = 20

    init(
        _ name: String,
        _ question: String,
        answer: String,
        shape: Shape = .lines,
        _ period: CountPeriod,
        _ parts: [(name: String, checks: [Int64])],
        of checks: [Int64],
        marks: [Mark] = []
    ) {
        self.init(
            name: name, question: question, answer: answer, shape: shape, unit: .share, axis: .time(period.starts),
            series: parts.map { Series(name: $0.name, values: zip($0.checks, checks).map(Self.share)) },
            checks: checks, marks: marks
        )
    }

    /// Nil where the whole is nothing.
    static func share(_ part: Int64, of whole: Int64) -> Double? { whole > 0 ? Double(part) / Double(whole) : nil }

    /// The newest changes of rules and apps as marks on the axis of time; none where the history may not be read.
    static func marks(_ filter: HistoryFilter, _ session: PostgresSession) throws -> [Mark] {
        guard try !DatabaseStatus.Hidden.history.isHidden(session) else { return [] }
        var filter = filter
        filter.ofRules = true
        filter.limit = mostMarks
        let history = try PolicyHistory(session, rowsPerChange: ChangeFormatter.mostNames)
        return try history.changes(filter).reversed().map { change in
            Mark(at: change.at, change: change.id, label: ChangeFormatter.summary(change, hasValues: true))
        }
    }

    static func nothing(_ period: String) -> String { "Nothing was counted in \(period)." }

    /// Who has most of the checks: `1.2 has 61.0 % of the 12,345 checks of the last 24 hours; 1.1 18.0 %.`
    static func ranking(
        _ names: [(name: String, checks: Int64)],
        noun: String,
        unknown: Int64,
        _ period: String
    ) -> String {
        let mostNamed = 3
        let all = names.reduce(0) { $0 + $1.checks } + unknown
        guard all > 0 else { return nothing(period) }
        func share(_ checks: Int64) -> String { NumberText.share(Double(checks), of: Double(all)) }
        guard let first = names.first else {
            return "None of the \(NumberText.checks(all)) of \(period) named a \(noun) that can be read."
        }
        var parts = ["\(first.name) has \(NumberText.share(first.checks, ofChecks: all)) of \(period)"]
        parts += names.dropFirst().prefix(mostNamed - 1).map { "\($0.name) \(share($0.checks))" }
        let others = names.dropFirst(mostNamed)
        if !others.isEmpty {
            let checks = others.reduce(0) { $0 + $1.checks }
            parts.append("\(others.count) other \(noun)\(others.count == 1 ? "" : "s") \(share(checks))")
        }
        if unknown > 0 { parts.append("no \(noun) that can be read \(share(unknown))") }
        return parts.joined(separator: "; ") + "."
    }
}
