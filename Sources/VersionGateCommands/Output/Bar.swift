// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// Draws parts of a whole as a bar of a fixed width.
enum Bar {
    /// The least width that says something.
    private static let least = 8

    /// The width that a terminal leaves behind a table; nil where that is too little.
    static func width(behind table: TextTable, on terminal: Terminal, most: Int = 40) -> Int? {
        let width = min(most, terminal.chartWidth - table.width - 2)
        return width >= least ? width : nil
    }

    /// A bar whose first characters stand for the first part, and so on, filled up with dots.
    ///
    /// - Parameters:
    ///   - parts: Each from 0 to 1, in all at most 1.
    ///   - width: How many characters.
    ///   - terminal: Says whether there are colours.
    static func text(
        _ parts: [(part: Double, character: Character, style: TextStyle)],
        width: Int,
        on terminal: Terminal
    ) -> String {
        var bar = ""
        var drawn = 0
        var sum = 0.0
        for (part, character, style) in parts {
            sum += max(0, part)
            var end = min(width, Int((sum * Double(width)).rounded()))
            if part > 0, end == drawn, drawn < width { end = drawn + 1 }
            bar += terminal.styled(String(repeating: character, count: max(0, end - drawn)), style)
            drawn = max(drawn, end)
        }
        return bar + String(repeating: ".", count: width - drawn)
    }
}
