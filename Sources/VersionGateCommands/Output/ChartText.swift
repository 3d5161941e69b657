import PolicyStore
import UpdatePolicy

/// A chart as text: its question and answer, a line for each place on its axis with a bar, and what the characters mean.
struct ChartText {
    private let chart: Chart
    private let terminal: Terminal
    private let mostLines: Int

    /// The characters of series; those that are taken together have one of their own.
    private static let letters: [(character: Character, style: TextStyle)] = [
        ("A", .green), ("B", .cyan), ("C", .blue), ("D", .magenta), ("E", .yellow), ("F", .red), ("G", .bold),
    ]
    /// The most series that have a column beside the bar.
    private static let mostColumns = 2
    private static let widestBar = 60

    /// Prepares a chart.
    ///
    /// - Parameter mostLines: Of more places on an axis of time, some are taken together.
    init(_ chart: Chart, mostLines: Int = 16, on terminal: Terminal) {
        self.chart = chart
        self.mostLines = mostLines
        self.terminal = terminal
    }

    /// All of it, without a line break at its end.
    var text: String {
        let head = "\(terminal.styled(chart.question.visible(), .bold))\n\(terminal.paragraphs(chart.answer.visible()))"
        guard !chart.isEmpty else { return head }
        var table = TextTable(header: header, widestBar: Self.widestBar)
        for line in lines { table.add(cells: cells(line), bar: bar(line)) }
        let legend = table.barWidth(on: terminal) == nil ? "" : legend
        return [head, table.text(for: terminal), terminal.paragraphs(legend), marks].filter { !$0.isEmpty }
            .joined(separator: "\n")
    }

    /// Some places that are taken together, or one.
    private struct Line {
        let name: String
        let checks: Int64?
        let values: [Double?]
    }

    private var header: [String] {
        let place =
            switch chart.axis {
            case .time:
                size == 1
                    ? chart.isHourly ? "HOUR FROM" : "DAY (UTC)"
                    : "\(size) \(chart.isHourly ? "HOURS FROM" : "DAYS FROM (UTC)")"
            case .elapsed: "AFTER"
            case .names: chart.name.uppercased()
            }
        return [place] + (hasChecks ? ["CHECKS"] : []) + (hasColumns ? chart.series.map { $0.name.uppercased() } : [])
    }

    private var hasColumns: Bool { chart.series.count <= Self.mostColumns }

    private var hasChecks: Bool {
        if case .time = chart.axis { return !chart.checks.isEmpty }
        return false
    }

    /// How many places a line takes together.
    private var size: Int {
        if case .names = chart.axis { return 1 }
        return max(1, (chart.axis.count + mostLines - 1) / mostLines)
    }

    private var lines: [Line] {
        let count = chart.axis.count
        var isLong = true
        if case .names = chart.axis { isLong = false }
        let lines = stride(from: 0, to: count, by: size).map { start in line(start..<min(start + size, count)) }
        // What lies before the first count says nothing.
        return isLong ? Array(lines.drop { $0.values.allSatisfy { $0 == nil } }) : lines
    }

    private func line(_ places: Range<Int>) -> Line {
        let checks = chart.checks.isEmpty ? nil : places.reduce(0) { $0 + chart.checks[$1] }
        let values = chart.series.map { series -> Double? in
            let counted = places.filter { series.values[$0] != nil }
            guard let first = counted.first else { return nil }
            if chart.unit == .checks { return counted.reduce(0) { $0 + (series.values[$1] ?? 0) } }
            // Shares of unknown wholes cannot be taken together: the first one stands for them.
            guard let checks, checks > 0 else { return series.values[first] }
            return counted.reduce(0) { $0 + (series.values[$1] ?? 0) * Double(chart.checks[$1]) } / Double(checks)
        }
        return Line(name: name(places.lowerBound), checks: checks, values: values)
    }

    private func name(_ place: Int) -> String {
        switch chart.axis {
        case .time(let times):
            return chart.isHourly ? TimeText.local(times[place]) : NumberText.date(times[place])
        case .elapsed(let times):
            return times[place] == 0 ? "0 h" : NumberText.duration(microseconds: times[place])
        case .names(let names): return ChangeWords.local.sentence(names[place])
        }
    }

    private func cells(_ line: Line) -> [String] {
        let values = line.values.map { value -> String in
            guard let value else { return "-" }
            guard chart.unit == .share else { return NumberText.count(Int64(value.rounded())) }
            guard let checks = line.checks else { return NumberText.percent(value, of: 1) }
            return NumberText.share(value * Double(checks), of: Double(checks))
        }
        return [line.name] + (hasChecks ? [line.checks.map { NumberText.count($0) } ?? "-"] : [])
            + (hasColumns ? values : [])
    }

    private func bar(_ line: Line) -> Bar {
        let scale = chart.unit == .share ? 1 : max(1, greatest)
        let parts = zip(line.values, characters).compactMap { value, drawn in
            value.map { (part: $0 / scale, character: drawn.character, style: drawn.style) }
        }
        return chart.shape == .lines ? Bar(points: parts) : Bar(parts)
    }

    /// The longest bar of numbers.
    private var greatest: Double {
        lines.map { $0.values.reduce(0) { $0 + ($1 ?? 0) } }.max() ?? 0
    }

    private var characters: [(character: Character, style: TextStyle)] {
        chart.series.enumerated().map { index, series in
            if series.name == Chart.others { return ("-", .yellow) }
            if series.name == Chart.lockout { return ("!", .red) }
            return hasColumns && chart.shape != .lines ? ("#", .green) : Self.letters[index % Self.letters.count]
        }
    }

    private var legend: String {
        guard chart.series.count > 1 else { return "" }
        let names = zip(chart.series, characters).map { series, drawn in
            "\(terminal.styled(String(drawn.character), drawn.style)) \(series.name.visible())"
        }
        return (names + (chart.shape == .lines ? ["\(Bar.several) several"] : [])).joined(separator: "  ")
    }

    private var marks: String {
        chart.marks.map { terminal.paragraphs("\(TimeText.local($0.at))  change \($0.change): \($0.label.visible())") }
            .joined(separator: "\n")
    }
}
