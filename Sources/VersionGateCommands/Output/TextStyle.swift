/// How a text stands out on a terminal; the raw value is the parameter of the escape sequence.
enum TextStyle: Int, Sendable {
    case bold = 1
    case faint = 2
    case red = 31
    case green = 32
    case yellow = 33
    case blue = 34
    case magenta = 35
    case cyan = 36

    /// The style of a cell in a column of states, by its text; other columns have none.
    static func ofCell(_ text: String, inColumn column: String) -> TextStyle? {
        switch (column, text) {
        case ("STATUS", "on"), ("STATE", "active"), ("STATE", "applied"), ("OUTCOME", "sent"): .green
        case ("STATE", "paused"), ("STATE", "pending"), ("OUTCOME", "sent without lockout"): .yellow
        case ("LOCKOUT", "yes"), ("LOCKOUT", "always"): .red
        case ("STATUS", "disabled"), ("STATUS", "ended"), ("LOCKOUT", "no"), ("OUTCOME", _): .faint
        case ("STATUS", _): .yellow
        default: nil
        }
    }
}
