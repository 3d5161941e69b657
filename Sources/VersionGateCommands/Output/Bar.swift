/// Parts of a whole one behind the other, or values on a scale, as a bar of characters that is filled up with dots.
struct Bar {
    /// Each from 0 to 1 of the whole, and how it is drawn; parts are in all at most 1.
    var parts: [(part: Double, character: Character, style: TextStyle)]
    /// Whether each is a point on the scale, and not a part of one whole.
    var arePoints = false

    /// The character of points that lie at the same place.
    static let several: Character = "*"

    func text(width: Int, on terminal: Terminal) -> String {
        guard arePoints else {
            var (bar, sum, drawn) = ("", 0.0, 0)
            for (part, character, style) in parts {
                sum += max(0, part)
                let end = min(width, max(drawn + (part > 0 ? 1 : 0), Int((sum * Double(width)).rounded())))
                bar += terminal.styled(String(repeating: character, count: end - drawn), style)
                drawn = end
            }
            return bar + String(repeating: ".", count: width - drawn)
        }
        var cells = [String](repeating: ".", count: width)
        for (value, character, style) in parts {
            let cell = Int((min(1, max(0, value)) * Double(width - 1)).rounded())
            cells[cell] = cells[cell] == "." ? terminal.styled(String(character), style) : String(Self.several)
        }
        return cells.joined()
    }
}
