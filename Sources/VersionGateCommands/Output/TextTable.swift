// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// Lays out rows of text in columns that are as wide as their widest cell.
///
/// On a terminal that is too narrow, the widest columns are cut. Control characters are written out.
struct TextTable {
    let header: [String]
    private var rows: [[String]] = []
    private var bars: [Int: String] = [:]

    /// How narrow a column may become.
    private static let leastWidth = 8

    /// Creates a table without rows.
    init(_ header: String...) {
        self.init(header: header)
    }

    /// Creates a table without rows.
    init(header: [String]) {
        self.header = header
    }

    /// Adds a row with a cell for each column.
    mutating func add(_ cells: String...) {
        add(cells: cells)
    }

    /// Adds a row with a cell for each column, and behind them a bar, which is never cut.
    mutating func add(cells: [String], bar: String? = nil) {
        if let bar { bars[rows.count + 1] = bar }
        rows.append(cells.map { $0.visible() })
    }

    /// How many cells of a terminal the widest line takes without its bar when nothing is cut.
    var width: Int { widths(fitting: nil).reduce(0, +) + 2 * (header.count - 1) }

    /// The whole table for standard output, without a line break at its end.
    var text: String { text(for: .standardOutput) }

    /// The whole table, without a line break at its end.
    func text(for terminal: Terminal) -> String {
        let widths = widths(fitting: terminal.width)
        return ([header] + rows).enumerated().map { number, cells in
            var line = ""
            for (column, whole) in cells.enumerated() {
                let cell = whole.cut(to: widths[column])
                let style = number == 0 ? .bold : TextStyle.ofCell(whole, inColumn: header[column])
                line += terminal.styled(cell, style)
                if bars[number] != nil || cells[(column + 1)...].contains(where: { !$0.isEmpty }) {
                    line += String(repeating: " ", count: widths[column] - cell.terminalWidth + 2)
                }
            }
            return line + (bars[number] ?? "")
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
