extension String {
    /// The text with all that steers a terminal escaped.
    ///
    /// - Parameter keepsNewlines: Whether line breaks stay; otherwise they are written out as well.
    package func visible(keepsNewlines: Bool = false) -> String {
        guard unicodeScalars.contains(where: \.steersTerminal) else { return self }
        var text = ""
        for scalar in unicodeScalars {
            switch scalar {
            case "\n": text += keepsNewlines ? "\n" : "\\n"
            case _ where scalar.steersTerminal:
                text += "\\u{\(String(scalar.value, radix: 16))}"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }

    /// JSON with what steers a terminal escaped. Its meaning stays the same, because that can occur in strings only.
    package var visibleJSON: String {
        guard unicodeScalars.contains(where: \.steersTerminal) else { return self }
        return unicodeScalars.reduce(into: "") { text, scalar in
            if scalar == "\n" || scalar == "\r" || scalar == "\t" {
                text += scalar == "\n" ? "\n" : " "
            } else if scalar.steersTerminal {
                for unit in String(scalar).utf16 { text += "\\u" + String(unit, padded: 4, radix: 16) }
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
    }
}

extension Unicode.Scalar {
    /// Whether it is not shown as itself, but steers how a terminal or a reader shows other text: controls, marks of
    /// format such as those of direction and tags, and separators of lines. The two joiners, which emoji and the scripts of
    /// Iran and India need, join only the letters beside them.
    package var steersTerminal: Bool {
        if isASCII { return value < 0x20 || value == 0x7F }
        if self == "\u{200C}" || self == "\u{200D}" { return false }
        return switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}
