// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// Draws parts of a whole as a bar of a fixed width.
enum Bar {
    /// A bar whose first character stand for the first part and so on, filled up with dots.
    ///
    /// - Parameters:
    ///   - parts: Each from 0 to 1, in all at most 1.
    ///   - width: How many characters.
    ///   - terminal: Says whether there are colours.
    static func text(
        _ parts: [(part: Double, character: Character, colour: Terminal.Colour)],
        width: Int,
        on terminal: Terminal
    ) -> String {
        var bar = ""
        var drawn = 0
        var sum = 0.0
        for (part, character, colour) in parts {
            sum += max(0, part)
            var end = min(width, Int((sum * Double(width)).rounded()))
            if part > 0, end == drawn, drawn < width { end = drawn + 1 }
            bar += terminal.coloured(String(repeating: character, count: max(0, end - drawn)), colour)
            drawn = max(drawn, end)
        }
        return bar + String(repeating: ".", count: width - drawn)
    }
}
