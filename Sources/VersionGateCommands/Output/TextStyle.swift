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
}
