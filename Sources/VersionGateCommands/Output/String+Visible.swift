// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

extension String {
    /// The text with terminal controls escaped: control characters, embeddings, overrides and isolates of text
    /// direction, and the separators of lines and paragraphs. Direction marks and joiners stay.
    ///
    /// - Parameter keepsNewlines: Whether line breaks stay; otherwise they are written out as well.
    func visible(keepsNewlines: Bool = false) -> String {
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

    /// How many cells of a terminal the text takes: two for East Asian wide characters and emoji.
    var terminalWidth: Int { reduce(0) { $0 + $1.terminalWidth } }

    /// The text in at most `width` cells of a terminal, with an ellipsis where it is cut.
    func cut(to width: Int) -> String {
        guard terminalWidth > width else { return self }
        var text = ""
        var taken = 1
        for character in self {
            taken += character.terminalWidth
            if taken > width { break }
            text.append(character)
        }
        return text + "…"
    }

    /// The text broken at blanks into lines of at most `width` cells; a longer word has its own line.
    func wrapped(to width: Int) -> [String] {
        split(separator: "\n", omittingEmptySubsequences: false).flatMap { line in
            var lines: [String] = []
            var current = ""
            for word in line.split(separator: " ", omittingEmptySubsequences: false) {
                let longer = current.isEmpty && lines.isEmpty ? String(word) : current + " " + word
                if longer.terminalWidth <= width || current.isEmpty {
                    current = longer
                } else {
                    lines.append(current)
                    current = String(word)
                }
            }
            return lines + [current]
        }
    }
}

extension Unicode.Scalar {
    /// Whether a terminal interprets it as a control instead of showing it.
    var steersTerminal: Bool {
        switch value {
        case 0x2028...0x202E, 0x2066...0x2069: true
        default: properties.generalCategory == .control
        }
    }
}

extension Character {
    fileprivate var terminalWidth: Int {
        switch unicodeScalars[unicodeScalars.startIndex].value {
        case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60,
            0xFFE0...0xFFE6, 0x1F300...0x1FAFF, 0x20000...0x3FFFD:
            2
        default: 1
        }
    }
}
