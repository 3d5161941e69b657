// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// Lays out rows of text in columns that are as wide as their widest cell.
struct TextTable {
    private let header: [String]
    private var rows: [[String]] = []

    /// Creates a table without rows.
    init(_ header: String...) {
        self.header = header
    }

    /// Adds a row with a cell for each column.
    mutating func add(_ cells: String...) {
        rows.append(cells)
    }

    /// The whole table, without a line break at its end.
    var text: String {
        let lines = [header] + rows
        let widths = header.indices.map { column in lines.map { Self.width($0[column]) }.max() ?? 0 }
        return lines.map { cells in
            var line = ""
            for (column, cell) in cells.enumerated() {
                line += cell
                if cells[(column + 1)...].contains(where: { !$0.isEmpty }) {
                    line += String(repeating: " ", count: widths[column] - Self.width(cell) + 2)
                }
            }
            return line
        }.joined(separator: "\n")
    }

    /// How many terminal cells a text takes: two for East Asian wide characters and emoji.
    private static func width(_ text: String) -> Int {
        text.reduce(0) { width, character in
            let scalar = character.unicodeScalars[character.unicodeScalars.startIndex]
            let isWide: Bool =
                switch scalar.value {
                case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
                    0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1FAFF, 0x20000...0x3FFFD:
                    true
                default: false
                }
            return width + (isWide ? 2 : 1)
        }
    }
}
