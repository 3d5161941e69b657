import UpdatePolicy

/// Lays out rows of text in columns that are as wide as their widest cell.
///
/// Nothing is cut. Where a terminal is too narrow, the last column is broken at blanks, if that suffices. Control characters
/// are written out. A row may end with a bar, in what the terminal leaves of the line; where that is too little, none has one.
struct TextTable {
    typealias Cell = (text: String, style: TextStyle?)

    private let header: [Cell]
    private let widestBar: Int
    private var rows: [(cells: [Cell], bar: Bar?)] = []

    /// The least width of a last column that is broken.
    private static let leastWidth = 16
    /// The least width of a bar that says something.
    private static let leastBar = 8

    init(_ header: [String], widestBar: Int = 40) {
        self.header = header.map { ($0.visible(), .bold) }
        self.widestBar = widestBar
    }

    mutating func add(_ cells: [Cell], bar: Bar? = nil) {
        rows.append((cells.map { ($0.text.visible(), $0.style) }, bar))
    }

    /// The width of the bars; nil where there is no room for them, or no row has one.
    func barWidth(on terminal: Terminal) -> Int? {
        let width = min(widestBar, terminal.chartWidth - Self.width(of: widths) - 2)
        return width < Self.leastBar || rows.allSatisfy { $0.bar == nil } ? nil : width
    }

    /// The whole table, without a line break at its end.
    func text(on terminal: Terminal) -> String {
        var widths = widths
        let last = widths.count - 1
        let room = terminal.width.map { $0 - Self.width(of: widths) + widths[last] } ?? widths[last]
        if room >= max(Self.leastWidth, header[last].text.terminalWidth) { widths[last] = min(widths[last], room) }
        let barWidth = barWidth(on: terminal)
        return ([(header, nil)] + rows).map { cells, bar in
            Self.line(cells, widths, bar: barWidth.flatMap { bar?.text(width: $0, on: terminal) }, terminal)
        }.joined(separator: "\n")
    }

    /// A row, whose last cell may take several lines.
    private static func line(_ cells: [Cell], _ widths: [Int], bar: String?, _ terminal: Terminal) -> String {
        var line = ""
        var blanks = 0
        func add(_ text: String, _ style: TextStyle?, _ width: Int) {
            if !text.isEmpty { line += String(repeating: " ", count: blanks) + terminal.styled(text, style) }
            blanks = (text.isEmpty ? blanks : 0) + width - text.terminalWidth + 2
        }
        for (cell, width) in zip(cells, widths).dropLast() { add(cell.text, cell.style, width) }
        let last = cells.count - 1
        let parts = cells[last].text.wrapped(to: widths[last])
        let indentation = "\n" + String(repeating: " ", count: width(of: widths) - widths[last])
        for (index, part) in parts.enumerated() {
            if index > 0 { (line, blanks) = (line + indentation, 0) }
            add(part, cells[last].style, widths[last])
        }
        if let bar { add(bar, nil, 0) }
        return line
    }

    private var widths: [Int] {
        header.indices.map { column in
            ([header] + rows.map(\.cells)).map { $0[column].text.terminalWidth }.max() ?? 0
        }
    }

    private static func width(of widths: [Int]) -> Int { widths.reduce(0, +) + 2 * (widths.count - 1) }
}
