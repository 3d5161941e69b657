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

    /// The heading that the table stands under, without the marks of code.
    let section: String
    /// The headings of the columns, without the marks of code.
    let columns: [String]
    let rows: [Row]

    private init?(_ lines: [String], section: String) {
        guard lines.count > 2 else { return nil }
        let columns = Self.cells(lines[0]).map { $0.replacing("`", with: "") }
        self.columns = columns
        self.section = section
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
        var section = ""
        var isCode = false
        var lines: [String] = []
        for line in text.components(separatedBy: "\n") + [""] {
            if line.hasPrefix("```") { isCode.toggle() }
            if line.hasPrefix("|"), !isCode {
                lines.append(line)
                continue
            }
            if let table = MarkdownTable(lines, section: section) { tables.append(table) }
            lines = []
            if line.hasPrefix("#"), !isCode {
                section = String(line.drop { $0 == "#" || $0 == " " }).replacing("`", with: "")
            }
        }
        return tables
    }

    /// The rows of the only table of a page with these columns.
    ///
    /// - Parameter section: The heading that the table stands under; nil for any.
    static func rows(_ columns: [String], in page: String, section: String? = nil) throws -> [Row] {
        let tables = try all(in: page).filter { $0.columns == columns && (section == nil || $0.section == section) }
        try #require(tables.count == 1, "\(page) has \(tables.count) tables with the columns \(columns)")
        return tables[0].rows
    }
}
