import Foundation
import TestSystem
import Testing

/// A table of a page of the documentation.
struct MarkdownTable: Sendable {
    /// A cell of a table.
    struct Cell: Sendable {
        /// The cell as it is written, with the marks of code.
        let text: String

        /// What the cell has in code.
        var codes: [String] {
            text.components(separatedBy: "`").enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
        }

        /// The code of the cell if it has one piece of it, else its text; `(empty)` stands for nothing.
        var value: String {
            if codes.count == 1 { return codes[0] }
            return text == "(empty)" ? "" : text
        }
    }

    /// A row of a table.
    struct Row: Sendable, CustomStringConvertible {
        /// The cells by the headings of their columns, without the marks of code.
        let cells: [String: Cell]
        /// The line.
        let description: String

        /// The cell of a column; an empty one if there is no such column.
        subscript(column: String) -> Cell { cells[column] ?? Cell(text: "") }
    }

    /// The headings of the columns, without the marks of code.
    let columns: [String]
    let rows: [Row]

    private init?(_ lines: [String]) {
        guard lines.count > 2 else { return nil }
        let columns = Self.cells(lines[0]).map { $0.replacing("`", with: "") }
        self.columns = columns
        rows = lines.dropFirst(2).map { line in
            let cells = zip(columns, Self.cells(line).map { Cell(text: $0) })
            return Row(cells: Dictionary(cells, uniquingKeysWith: { first, _ in first }), description: line)
        }
    }

    /// The cells of a line. A bar in a cell is written `\|`.
    private static func cells(_ line: String) -> [String] {
        line.replacing("\\|", with: "\u{0}").components(separatedBy: "|").dropFirst().dropLast().map {
            $0.replacing("\u{0}", with: "|").trimmingCharacters(in: .whitespaces)
        }
    }

    /// The tables of a page in order.
    ///
    /// - Parameter page: The path in the repository.
    static func all(in page: String) throws -> [MarkdownTable] {
        let text = try String(contentsOf: RepositoryFile.url(page), encoding: .utf8)
        var tables: [MarkdownTable] = []
        var isCode = false
        var lines: [String] = []
        for line in text.components(separatedBy: "\n") + [""] {
            if line.hasPrefix("```") { isCode.toggle() }
            if line.hasPrefix("|"), !isCode {
                lines.append(line)
                continue
            }
            if let table = MarkdownTable(lines) { tables.append(table) }
            lines = []
        }
        return tables
    }

    /// The rows of the only table of a page with these columns.
    static func rows(_ columns: [String], in page: String) throws -> [Row] {
        let tables = try all(in: page).filter { $0.columns == columns }
        try #require(tables.count == 1, "\(page) has \(tables.count) tables with the columns \(columns)")
        return tables[0].rows
    }
}
