/// Parts of a whole, or values beside each other, as a bar of characters.
struct Bar {
    /// A part or a value, from 0 to 1 of the whole, and how it is drawn.
    typealias Part = (part: Double, character: Character, style: TextStyle)

    private let parts: [Part]
    private let areStacked: Bool

    /// A bar of these parts, in all at most 1.
    init(_ parts: [Part]) {
        self.parts = parts
        areStacked = true
    }

    /// A scale from 0 to 1 with a character at each value.
    init(points: [Part]) {
        parts = points
        areStacked = false
    }

    /// The character of values that lie at the same place.
    static let several: Character = "*"

    /// The bar, filled up with dots. Its first characters stand for the first part, and so on; of values one character
    /// stands at each.
    ///
    /// - Parameters:
    ///   - width: How many characters.
    ///   - terminal: Says whether there are colours.
    func text(width: Int, on terminal: Terminal) -> String {
        areStacked ? stacked(width, terminal) : points(width, terminal)
    }

    private func stacked(_ width: Int, _ terminal: Terminal) -> String {
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

    private func points(_ width: Int, _ terminal: Terminal) -> String {
        var cells = [String](repeating: ".", count: width)
        for (value, character, style) in parts {
            let cell = Int((min(1, max(0, value)) * Double(width - 1)).rounded())
            cells[cell] = cells[cell] == "." ? terminal.styled(String(character), style) : String(Self.several)
        }
        return cells.joined()
    }
}
