import UpdatePolicy

/// Lays out rows of text in columns that are as wide as their widest cell.
///
/// Nothing is cut. Columns in which no cell says anything are left out. Where the terminal is too narrow, the last column
/// is broken at blanks; where that does not suffice, the first columns stay in line, the last of them broken at blanks,
/// and the others stand below each row.
/// Control characters are written out. A row may end with a bar, in what the terminal leaves of the line; where that is
/// too little, no row has one.
struct TextTable {
    private let header: [String]
    private let silent: [String: String]
    private let named: Int
    private let widestBar: Int
    private var rows: [[String]] = []
    private var bars: [Int: Bar] = [:]

    /// The least width of a last column that is broken.
    private static let leastWidth = 16
    /// The least width of a bar that says something.
    private static let leastBar = 8

    /// Creates a table without rows.
    init(_ header: String..., named: Int = 1, silent: [String: String] = [:]) {
        self.init(header: header, named: named, silent: silent)
    }

    /// Creates a table without rows.
    ///
    /// - Parameters:
    ///   - header: The names of the columns.
    ///   - named: How many columns name a row, the first of them.
    ///   - silent: For a column the cell that says nothing, beside an empty one and `-`: `all`, `100 %`.
    ///   - widestBar: The most characters of a bar.
    init(header: [String], named: Int = 1, silent: [String: String] = [:], widestBar: Int = 40) {
        self.header = header
        self.named = named
        self.silent = silent
        self.widestBar = widestBar
    }

    /// Adds a row with a cell for each column.
    mutating func add(_ cells: String...) {
        add(cells: cells)
    }

    /// Adds a row with a cell for each column, and behind them a bar.
    mutating func add(cells: [String], bar: Bar? = nil) {
        if let bar { bars[rows.count] = bar }
        rows.append(cells.map { $0.visible() })
    }

    /// The width of the bars on a terminal; nil where there is no room for them, or no row has one.
    func barWidth(on terminal: Terminal) -> Int? {
        let width = min(widestBar, terminal.chartWidth - Self.width(of: columns.map(width)) - 2)
        return bars.isEmpty || width < Self.leastBar ? nil : width
    }

    /// The whole table for standard output, without a line break at its end.
    var text: String { text(for: .standardOutput) }

    /// The whole table, without a line break at its end.
    func text(for terminal: Terminal) -> String {
        let columns = columns
        var widths = columns.map(width)
        let excess = terminal.width.map { Self.width(of: widths) - $0 } ?? 0
        if excess > 0 {
            let width = widths[widths.count - 1] - excess
            guard columns.count > 1, width >= max(Self.leastWidth, header[columns[columns.count - 1]].terminalWidth)
            else { return paragraphs(columns, widths, terminal) }
            widths[widths.count - 1] = width
        }
        let barWidth = barWidth(on: terminal)
        let head = columns.map { header[$0] }
        let styles = columns.map { _ in TextStyle?.some(.bold) }
        return
            ([Self.lines(head, styles, widths, bar: nil, terminal)]
            + rows.enumerated().map { row, cells in
                Self.lines(
                    columns.map { cells[$0] }, columns.map { TextStyle.ofCell(cells[$0], inColumn: header[$0]) },
                    widths, bar: barWidth.flatMap { bars[row]?.text(width: $0, on: terminal) }, terminal
                )
            }).joined(separator: "\n")
    }

    /// A row, whose last cell may take several lines.
    private static func lines(
        _ cells: [String],
        _ styles: [TextStyle?],
        _ widths: [Int],
        bar: String?,
        _ terminal: Terminal
    ) -> String {
        var line = ""
        for (column, cell) in cells.dropLast().enumerated() {
            line += terminal.styled(cell, styles[column])
            if bar != nil || cells[(column + 1)...].contains(where: { !$0.isEmpty }) {
                line += String(repeating: " ", count: widths[column] - cell.terminalWidth + 2)
            }
        }
        let last = widths[widths.count - 1]
        let parts = cells[cells.count - 1].wrapped(to: last)
        let indentation = String(repeating: " ", count: Self.width(of: widths) - last)
        line += parts.map { terminal.styled($0, styles[cells.count - 1]) }.joined(separator: "\n" + indentation)
        guard let bar else { return line }
        return line + String(repeating: " ", count: last - parts[parts.count - 1].terminalWidth + 2) + bar
    }

    /// The first columns as far as they fit, and below each row the other cells that say something, with the names of
    /// their columns. Where nothing fits but what names a row, it has no header.
    private func paragraphs(_ columns: [Int], _ widths: [Int], _ terminal: Terminal) -> String {
        let whole = terminal.width ?? Terminal.usualWidth
        let width = max(whole - 2, Self.leastWidth)
        var widths = widths
        var fitting = columns.indices.last { Self.width(of: Array(widths[...$0])) <= whole }.map { $0 + 1 } ?? 0
        if fitting > 0, fitting < columns.count {
            let room = whole - Self.width(of: Array(widths[..<fitting])) - 2
            if room >= max(Self.leastWidth, header[columns[fitting]].terminalWidth) {
                widths[fitting] = room
                fitting += 1
            }
        }
        let inLine = columns.prefix(fitting > named ? fitting : 0)
        let head = inLine.isEmpty ? [] : [line(inLine.map { header[$0] }, inLine.map { _ in .bold }, widths, terminal)]
        let paragraphs = rows.map { cells in
            let first =
                inLine.isEmpty
                ? terminal.styled(cells.prefix(named).filter { !$0.isEmpty }.joined(separator: " "), .bold)
                : line(
                    inLine.map { cells[$0] }, inLine.map { TextStyle.ofCell(cells[$0], inColumn: header[$0]) }, widths,
                    terminal
                )
            let others = columns.dropFirst(inLine.isEmpty ? named : inLine.count)
            let facts = others.filter { !isSilent(cells[$0], $0) }.map { column in
                header[column].isEmpty ? cells[column] : "\(header[column].lowercased()): \(cells[column])"
            }
            var lines: [String] = []
            for fact in facts {
                if let line = lines.last, line.terminalWidth + 2 + fact.terminalWidth <= width {
                    lines[lines.count - 1] = "\(line); \(fact)"
                } else {
                    lines += fact.wrapped(to: width)
                }
            }
            return ([first] + lines.map { "  \($0)" }).joined(separator: "\n")
        }
        return (head + paragraphs).joined(separator: "\n")
    }

    private func line(_ cells: [String], _ styles: [TextStyle?], _ widths: [Int], _ terminal: Terminal) -> String {
        Self.lines(cells, styles, Array(widths.prefix(cells.count)), bar: nil, terminal)
    }

    /// The columns in which some cell says something, and those that name the row.
    private var columns: [Int] {
        header.indices.filter { column in
            column < named || rows.isEmpty || rows.contains { !isSilent($0[column], column) }
        }
    }

    private func isSilent(_ cell: String, _ column: Int) -> Bool {
        cell.isEmpty || cell == "-" || cell == silent[header[column]]
    }

    private func width(of column: Int) -> Int {
        ([header] + rows).map { $0[column].terminalWidth }.max() ?? 0
    }

    private static func width(of widths: [Int]) -> Int { widths.reduce(0, +) + 2 * (widths.count - 1) }
}
