import Foundation
import TestSystem

/// A table of `Tests/Cases/meanings.tsv`.
package struct MeaningTable: Sendable {
    /// A row of a table.
    package struct Row: Sendable {
        /// The line of the file.
        package let line: Int
        private let cells: [String: String]

        init(line: Int, _ cells: [(String, String)]) {
            self.line = line
            self.cells = Dictionary(cells) { first, _ in first }
        }

        /// A cell as it is written; empty where the row has none.
        package subscript(column: String) -> String { cells[column] ?? "" }

        /// The text that a cell stands for; nil where it is none.
        package func text(_ column: String) -> String? {
            self[column] == "none" ? nil : CaseText.read(self[column])
        }

        /// The texts of a cell.
        package func texts(_ column: String) -> [String] {
            self[column].components(separatedBy: ", ").filter { !$0.isEmpty }.map { CaseText.read($0) }
        }

        /// Whether the row is in the table of the page.
        package var isOnPage: Bool { self["page"] == "yes" }
    }

    /// The path of the file in the repository.
    package static let path = "Tests/Cases/meanings.tsv"

    package let name: String
    package private(set) var rows: [Row] = []
    private var columns: [String] = []

    private init(name: String) { self.name = name }

    /// All tables.
    package static func all() throws -> [MeaningTable] {
        let file = try String(contentsOf: RepositoryFile.url(path), encoding: .utf8)
        var tables: [MeaningTable] = []
        for (index, line) in file.components(separatedBy: "\n").enumerated() {
            if line.hasPrefix("## ") {
                tables.append(MeaningTable(name: String(line.dropFirst(3))))
            } else if !line.isEmpty, !line.hasPrefix("# ") {
                tables[tables.count - 1].append(line.components(separatedBy: "\t"), line: index + 1)
            }
        }
        return tables
    }

    /// The rows of a table.
    package static func rows(_ name: String) throws -> [Row] {
        try all().filter { $0.name == name }.flatMap(\.rows)
    }

    private mutating func append(_ cells: [String], line: Int) {
        if columns.isEmpty {
            columns = cells
        } else {
            rows.append(Row(line: line, Array(zip(columns, cells))))
        }
    }
}
