// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// Lays out rows of text in columns that are as wide as their widest cell.
///
/// On a terminal that is too narrow, the widest columns are cut. Control characters are written out. A row may end with a
/// bar, in what the terminal leaves of the line; where that is too little, no row has one.
struct TextTable {
    private let header: [String]
    private let widestBar: Int
    private var rows: [[String]] = []
    private var bars: [Int: Bar] = [:]

    /// How narrow a column may become.
    private static let leastWidth = 8
    /// The least width of a bar that says something.
    private static let leastBar = 8

    /// Creates a table without rows.
    init(_ header: String...) {
        self.init(header: header)
    }

    /// Creates a table without rows.
    ///
    /// - Parameters:
    ///   - header: The names of the columns.
    ///   - widestBar: The most characters of a bar.
    init(header: [String], widestBar: Int = 40) {
        self.header = header
        self.widestBar = widestBar
    }

    /// Adds a row with a cell for each column.
    mutating func add(_ cells: String...) {
        add(cells: cells)
    }

    /// Adds a row with a cell for each column, and behind them a bar.
    mutating func add(cells: [String], bar: Bar? = nil) {
        if let bar { bars[rows.count + 1] = bar }
        rows.append(cells.map { $0.visible() })
    }

    /// The width of the bars on a terminal; nil where there is no room for them, or no row has one.
    func barWidth(on terminal: Terminal) -> Int? {
        let cells = widths(fitting: nil).reduce(0, +) + 2 * (header.count - 1)
        let width = min(widestBar, terminal.chartWidth - cells - 2)
        return bars.isEmpty || width < Self.leastBar ? nil : width
    }

    /// The whole table for standard output, without a line break at its end.
    var text: String { text(for: .standardOutput) }

    /// The whole table, without a line break at its end.
    func text(for terminal: Terminal) -> String {
        let widths = widths(fitting: terminal.width)
        let barWidth = barWidth(on: terminal)
        return ([header] + rows).enumerated().map { number, cells in
            var line = ""
            let bar = barWidth.flatMap { bars[number]?.text(width: $0, on: terminal) }
            for (column, whole) in cells.enumerated() {
                let cell = whole.cut(to: widths[column])
                let style = number == 0 ? .bold : TextStyle.ofCell(whole, inColumn: header[column])
                line += terminal.styled(cell, style)
                if bar != nil || cells[(column + 1)...].contains(where: { !$0.isEmpty }) {
                    line += String(repeating: " ", count: widths[column] - cell.terminalWidth + 2)
                }
            }
            return line + (bar ?? "")
        }.joined(separator: "\n")
    }

    private func widths(fitting limit: Int?) -> [Int] {
        var widths = header.indices.map { column in
            ([header] + rows).map { $0[column].terminalWidth }.max() ?? 0
        }
        guard let limit else { return widths }
        let least = header.map { max($0.terminalWidth, Self.leastWidth) }
        while widths.reduce(0, +) + 2 * (widths.count - 1) > limit {
            let shrinkable = widths.indices.filter { widths[$0] > least[$0] }
            guard let widest = shrinkable.max(by: { widths[$0] < widths[$1] }) else { break }
            widths[widest] -= 1
        }
        return widths
    }
}
