import UpdatePolicy

/// Lays out rows of text in columns that are as wide as their widest cell.
///
/// Nothing is cut. Where a terminal is too narrow, the last column is broken at blanks, if that suffices. Control characters
/// are written out. A row may end with a bar, in what the terminal leaves of the line; where that is too little, none has one.
struct TextTable {
    typealias Cell = (text: String, style: TextStyle?)

    private let header: [Cell]
    private let widestBar: Int
    private var rows: [(cells: [Cell], bar: Bar?)] = []

    private static let leastWidth = 16
    private static let leastBar = 8

    init(_ header: [String], widestBar: Int = 40) {
        self.header = header.map { ($0.visible(), .bold) }
        self.widestBar = widestBar
    }

    mutating func add(_ cells: [Cell], bar: Bar? = nil) {
        rows.append((cells.map { ($0.text.visible(), $0.style) }, bar))
    }

    /// The width of the bars; nil where there is no room for them, or no row has one.
    func barWidth(on terminal: Terminal) -> Int? {
        let width = min(widestBar, terminal.chartWidth - Self.width(of: widths) - 2)
        return width < Self.leastBar || rows.allSatisfy { $0.bar == nil } ? nil : width
    }

    func text(on terminal: Terminal) -> String {
        var widths = widths
        let last = widths.count - 1
        let room = terminal.width.map { $0 - Self.width(of: widths) + widths[last] } ?? widths[last]
        if room >= max(Self.leastWidth, header[last].text.terminalWidth) { widths[last] = min(widths[last], room) }
        let barWidth = barWidth(on: terminal)
        return ([(header, nil)] + rows).map { cells, bar in
            Self.line(cells, widths, bar: barWidth.flatMap { bar?.text(width: $0, on: terminal) }, terminal)
        }.joined(separator: "\n")
    }

    private static func line(_ cells: [Cell], _ widths: [Int], bar: String?, _ terminal: Terminal) -> String {
        var line = ""
        var blanks = 0
        func add(_ text: String, _ style: TextStyle?, _ width: Int) {
            if !text.isEmpty { line += String(repeating: " ", count: blanks) + terminal.styled(text, style) }
            blanks = (text.isEmpty ? blanks : 0) + width - text.terminalWidth + 2
        }
        for (cell, width) in zip(cells, widths).dropLast() { add(cell.text, cell.style, width) }
        let last = cells.count - 1
        let parts = cells[last].text.wrapped(to: widths[last])
        let indentation = "\n" + String(repeating: " ", count: width(of: widths) - widths[last])
        for (index, part) in parts.enumerated() {
            if index > 0 { (line, blanks) = (line + indentation, 0) }
            add(part, cells[last].style, widths[last])
        }
        if let bar { add(bar, nil, 0) }
        return line
    }

    private var widths: [Int] {
        header.indices.map { column in
            ([header] + rows.map(\.cells)).map { $0[column].text.terminalWidth }.max() ?? 0
        }
    }

    private static func width(of widths: [Int]) -> Int { widths.reduce(0, +) + 2 * (widths.count - 1) }
}

extension String {
    /// How many cells of a terminal the text takes: two for East Asian wide characters and emoji, none for colours.
    var terminalWidth: Int {
        let text = contains("\u{1B}") ? replacing(/\x{1B}[^m]*m?/, with: "") : self
        return text.reduce(0) { $0 + $1.terminalWidth }
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
