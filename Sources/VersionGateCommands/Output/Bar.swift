// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// Parts of a whole as a bar of characters.
struct Bar {
    /// A part, from 0 to 1 of the whole, and how it is drawn.
    typealias Part = (part: Double, character: Character, style: TextStyle)

    private let parts: [Part]

    /// A bar of these parts, in all at most 1.
    init(_ parts: [Part]) {
        self.parts = parts
    }

    /// The bar, whose first characters stand for the first part, and so on, filled up with dots.
    ///
    /// - Parameters:
    ///   - width: How many characters.
    ///   - terminal: Says whether there are colours.
    func text(width: Int, on terminal: Terminal) -> String {
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
