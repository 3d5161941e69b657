import PolicyStore
import UpdatePolicy

/// A chart as text: its question and answer, a line for each place on its axis with a bar, and what the characters mean.
struct ChartText {
    let chart: Chart
    let terminal: Terminal

    /// A place on the axis, or some of an axis of time that are taken together.
    private typealias Line = (name: String, checks: Int64?, values: [Double?])

    private var mostLines: Int { chart.shape == .stackedAreas ? 31 : 16 }

    var text: String {
        let head = terminal.styled(chart.question.visible(), .bold) + "\n" + terminal.paragraphs(chart.answer.visible())
        guard !chart.isEmpty else { return head }
        let lines = lines
        var table = TextTable(header, widestBar: 60)
        for line in lines { table.add(cells(line).map { ($0, nil) }, bar: bar(line, lines)) }
        let marks = chart.marks.map { mark in
            let label = mark.label.text(at: nil) { TimeText.local($0) }
            return terminal.paragraphs("\(TimeText.local(mark.at))  change \(mark.change): \(label.visible())")
        }
        let legend = chart.series.count > 1 && table.barWidth(on: terminal) != nil ? [terminal.paragraphs(legend)] : []
        return ([head, table.text(on: terminal)] + legend + marks).joined(separator: "\n")
    }

    private var isOfNames: Bool { if case .names = chart.axis { true } else { false } }
    private var hasColumns: Bool { chart.series.count <= 2 }
    private var hasChecks: Bool { if case .time = chart.axis { !chart.checks.isEmpty } else { false } }
    private var size: Int { isOfNames ? 1 : max(1, (chart.axis.count + mostLines - 1) / mostLines) }

    private var header: [String] {
        let place =
            switch chart.axis {
            case .time where size > 1: "\(size) \(chart.isHourly ? "HOURS FROM" : "DAYS FROM (UTC)")"
            case .time: chart.isHourly ? "HOUR FROM" : "DAY (UTC)"
            case .elapsed: "AFTER"
            case .names: chart.name.uppercased()
            }
        return [place] + (hasChecks ? ["CHECKS"] : []) + (hasColumns ? chart.series.map { $0.name.uppercased() } : [])
    }

    private var lines: [Line] {
        let count = chart.axis.count
        let lines = stride(from: 0, to: count, by: size).map { line($0..<min($0 + size, count)) }
        // What lies before the first count says nothing.
        return isOfNames ? lines : Array(lines.drop { $0.values.allSatisfy { $0 == nil } })
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
        return (name(places.lowerBound), checks, values)
    }

    private func name(_ place: Int) -> String {
        switch chart.axis {
        case .time(let times): chart.isHourly ? TimeText.local(times[place]) : NumberText.date(times[place])
        case .elapsed(let times): times[place] == 0 ? "0 h" : NumberText.duration(microseconds: times[place])
        case .names(let names): chart.sentences.isEmpty ? names[place] : chart.sentences[place].local
        }
    }

    private func cells(_ line: Line) -> [String] {
        let values = line.values.map { value -> String in
            guard let value else { return "-" }
            guard chart.unit == .share, let checks = line.checks.map(Double.init) else { return chart.text(value) }
            return NumberText.share(value * checks, of: checks)
        }
        return [line.name] + (hasChecks ? [line.checks.map { NumberText.count($0) } ?? "-"] : [])
            + (hasColumns ? values : [])
    }

    private func bar(_ line: Line, _ lines: [Line]) -> Bar {
        let greatest = lines.map { $0.values.reduce(0) { $0 + ($1 ?? 0) } }.max() ?? 0
        let scale = chart.unit == .share ? 1 : max(1, greatest)
        return Bar(
            parts: zip(line.values, marks).compactMap { value, mark in value.map { ($0 / scale, mark.0, mark.1) } },
            arePoints: chart.shape == .lines
        )
    }

    private var marks: [(Character, TextStyle)] {
        let letters: [(Character, TextStyle)] = [
            ("A", .green), ("B", .cyan), ("C", .blue), ("D", .magenta), ("E", .yellow), ("F", .red), ("G", .bold),
        ]
        return chart.series.enumerated().map { index, series in
            if series.name == Chart.others { return ("-", .yellow) }
            if series.name == Chart.lockout { return ("!", .red) }
            return hasColumns && chart.shape != .lines ? ("#", .green) : letters[index % letters.count]
        }
    }

    private var legend: String {
        let names = zip(chart.series, marks).map { series, mark in
            "\(terminal.styled(String(mark.0), mark.1)) \(series.name.visible())"
        }
        return (names + (chart.shape == .lines ? ["\(Bar.several) several"] : [])).joined(separator: "  ")
    }
}

/// Parts of a whole one behind the other, or values on a scale, as a bar of characters that is filled up with dots.
struct Bar {
    typealias Part = (part: Double, character: Character, style: TextStyle)

    var parts: [Part]
    /// Whether each is a point on the scale, and not a part of one whole.
    var arePoints = false

    /// The character of points that lie at the same place.
    static let several: Character = "*"

    func text(width: Int, on terminal: Terminal) -> String {
        guard arePoints else {
            var (bar, sum, drawn) = ("", 0.0, 0)
            for (part, character, style) in parts {
                sum += max(0, part)
                let end = min(width, max(drawn + (part > 0 ? 1 : 0), Int((sum * Double(width)).rounded())))
                bar += terminal.styled(String(repeating: character, count: end - drawn), style)
                drawn = end
            }
            return bar + String(repeating: ".", count: width - drawn)
        }
        var cells = [String](repeating: ".", count: width)
        for (value, character, style) in parts {
            let cell = Int((min(1, max(0, value)) * Double(width - 1)).rounded())
            cells[cell] = cells[cell] == "." ? terminal.styled(String(character), style) : String(Self.several)
        }
        return cells.joined()
    }
}
