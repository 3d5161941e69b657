import UpdatePolicy

/// Writes texts as YAML scalars that every reader of YAML 1.1 and 1.2 takes for texts.
///
/// A text stands bare only if it cannot be taken for anything else; in doubt it goes into quotation marks.
enum YAMLScalarText {
    /// Words that some reader takes for a boolean, for null or for a number.
    private static let words: Set<String> = [
        "y", "n", "yes", "no", "on", "off", "true", "false", "null", "none", "nan", "inf", "infinity",
    ]

    /// The text on one line.
    ///
    /// - Parameter isInFlow: Whether it stands between brackets, where commas and brackets mean something.
    static func line(_ text: String, isInFlow: Bool = false) -> String {
        isBare(text, isInFlow: isInFlow) ? text : quoted(text)
    }

    /// The text as a block of lines below its key, with the indicator that goes behind the key's colon.
    ///
    /// - Returns: Nil if the text has one line, or has to be quoted.
    static func block(_ text: String, indentation: String) -> String? {
        let scalars = text.unicodeScalars
        guard scalars.contains("\n"), scalars.allSatisfy({ $0 == "\n" || isPrintable($0) }) else { return nil }
        var lines = scalars.split(separator: "\n", omittingEmptySubsequences: false)
        let endsWithBreak = lines.last?.isEmpty == true
        if endsWithBreak { lines.removeLast() }
        // Blanks at the ends of lines get lost in editors; those at the beginning of the first decide the indentation.
        guard let first = lines.first?.first, first != " ", lines.last?.isEmpty == false,
            lines.allSatisfy({ $0.last != " " })
        else { return nil }
        return (endsWithBreak ? "|" : "|-")
            + lines.map { $0.isEmpty ? "\n" : "\n\(indentation)\(Substring($0))" }.joined()
    }

    static func quoted(_ text: String) -> String {
        var literal = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\":
                literal.unicodeScalars.append("\\")
                literal.unicodeScalars.append(scalar)
            case "\n": literal += "\\n"
            case "\t": literal += "\\t"
            case _ where isPrintable(scalar): literal.unicodeScalars.append(scalar)
            default:
                let (letter, width) = scalar.value <= 0xFF ? ("x", 2) : scalar.value <= 0xFFFF ? ("u", 4) : ("U", 8)
                literal += "\\\(letter)\(String(scalar.value, padded: width, radix: 16, uppercase: true))"
            }
        }
        return literal + "\""
    }

    private static func isBare(_ text: String, isInFlow: Bool) -> Bool {
        let scalars = text.unicodeScalars
        guard let first = scalars.first, let last = scalars.last, first.properties.isAlphabetic, last != " ",
            last != ":", !words.contains(text.lowercased()),
            scalars.allSatisfy({ isPrintable($0) && !(isInFlow && ",[]{}".unicodeScalars.contains($0)) })
        else { return false }
        var previous = first
        for scalar in scalars.dropFirst() {
            if previous == ":" && (scalar == " " || isInFlow) || previous == " " && scalar == "#" { return false }
            previous = scalar
        }
        return true
    }

    /// Whether a character may stand in a file as it is: printable in YAML, no line break to any reader, and shown as what
    /// it is.
    private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
        guard !scalar.steersTerminal else { return false }
        return switch scalar.value {
        case 0x20...0x7E, 0xA0...0x2027, 0x202A...0xD7FF, 0xE000...0xFEFE, 0xFF00...0xFFFD, 0x10000...0x10FFFF: true
        default: false
        }
    }
}
