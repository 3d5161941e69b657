extension String {
    /// How many cells of a terminal the text takes: two for East Asian wide characters and emoji, none for colours.
    var terminalWidth: Int {
        var width = 0
        var isStyle = false
        for character in self {
            if character == "\u{1B}" {
                isStyle = true
            } else if isStyle {
                isStyle = character != "m"
            } else {
                width += character.terminalWidth
            }
        }
        return width
    }

    /// The text broken at blanks into lines of at most `width` cells; a longer word has its own line, but is broken where
    /// its characters are wide, as those of Chinese and Japanese.
    ///
    /// What stands between backquotes is one word, and so is a command, from `versiongate` to the end of its sentence, so
    /// that it can be copied whole.
    func wrapped(to width: Int) -> [String] {
        split(separator: "\n", omittingEmptySubsequences: false).flatMap { line in
            var lines: [String] = []
            var current = ""
            for word in line.unbreakableWords.flatMap({ $0.brokenIfWide(at: width) }) {
                let longer = current.isEmpty && lines.isEmpty ? word : current + " " + word
                if longer.terminalWidth <= width || current.isEmpty {
                    current = longer
                } else {
                    while current.last == " " { current.removeLast() }
                    lines.append(current)
                    current = word
                }
            }
            return lines + [current]
        }
    }
}

extension Substring {
    /// The parts between the blanks at which a line may be broken.
    fileprivate var unbreakableWords: [String] {
        var words: [String] = []
        var isQuoted = false
        var isCommand = false
        for word in split(separator: " ", omittingEmptySubsequences: false) {
            if isQuoted || isCommand, let last = words.popLast() {
                words.append("\(last) \(word)")
            } else {
                words.append(String(word))
            }
            let bareWord = word.filter { $0 != "`" }
            if word.count(where: { $0 == "`" }) % 2 == 1 { isQuoted.toggle() }
            isCommand = (isCommand || bareWord == "versiongate") && !(word.last.map { ".;,)".contains($0) } ?? true)
        }
        return words
    }
}

extension String {
    /// The text in parts of at most `width` cells, if it is longer and has wide characters.
    fileprivate func brokenIfWide(at width: Int) -> [String] {
        guard terminalWidth > width, contains(where: { $0.terminalWidth > 1 }) else { return [self] }
        var parts = [""]
        for character in self {
            if let part = parts.last, !part.isEmpty, part.terminalWidth + character.terminalWidth > width {
                parts.append("")
            }
            parts[parts.count - 1].append(character)
        }
        return parts
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
