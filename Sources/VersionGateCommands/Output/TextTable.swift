import UpdatePolicy

/// Lays out rows of text in columns that are as wide as their widest cell.
///
/// Where a terminal is too narrow, cells are broken at blanks, those of the widest column first; if that does not suffice,
/// columns are left out, which is said. Control characters are written out. A row may end with a bar, in what the terminal
/// leaves of the line; where that is too little, none has one.
struct TextTable {
    typealias Cell = (text: String, style: TextStyle?)
    private typealias Column = (index: Int, width: Int)

    private let header: [Cell]
    /// The columns that matter least, the least of them last: they may be left out.
    private let optional: [Int]
    private let widestBar: Int
    private var rows: [(cells: [Cell], bar: Bar?)] = []

    private static let leastBar = 8

    init(_ header: [String], optional: [Int] = [], widestBar: Int = 40) {
        self.header = header.map { ($0.visible(), .bold) }
        (self.optional, self.widestBar) = (optional, widestBar)
    }

    mutating func add(_ cells: [Cell], bar: Bar? = nil) {
        rows.append((cells.map { ($0.text.visible(), $0.style) }, bar))
    }

    /// The width of the bars; nil where there is no room for them, or no row has one.
    func barWidth(on terminal: Terminal) -> Int? {
        let width = min(widestBar, (terminal.width ?? 80) - Self.width(of: columns(on: terminal)) - 2)
        return width < Self.leastBar || rows.allSatisfy { $0.bar == nil } ? nil : width
    }

    func text(on terminal: Terminal) -> String {
        let (columns, barWidth) = (columns(on: terminal), barWidth(on: terminal))
        let lines = ([(header, nil)] + rows).map { cells, bar in
            Self.line(cells, columns, bar: barWidth.flatMap { bar?.text(width: $0, on: terminal) }, terminal)
        }
        let left = header.indices.filter { index in !columns.contains { $0.index == index } }.map { header[$0].text }
        let note = "Not shown, as the terminal is too narrow: \(left.joined(separator: ", "))."
        return (lines + (left.isEmpty ? [] : [terminal.paragraphs(note)])).joined(separator: "\n")
    }

    private static func line(_ cells: [Cell], _ columns: [Column], bar: String?, _ terminal: Terminal) -> String {
        let parts = columns.map { cells[$0.index].text.wrapped(to: $0.width) }
        return (0..<(parts.map(\.count).max() ?? 0)).map { place in
            var (line, blanks) = ("", 0)
            for (column, parts) in zip(columns, parts) {
                let text = place < parts.count ? parts[place] : ""
                if !text.isEmpty {
                    line += String(repeating: " ", count: blanks) + terminal.styled(text, cells[column.index].style)
                    blanks = 0
                }
                blanks += column.width - text.terminalWidth + 2
            }
            return line + (place == 0 ? bar.map { String(repeating: " ", count: blanks) + $0 } ?? "" : "")
        }.joined(separator: "\n")
    }

    /// The columns that a terminal has room for; all of them, whole, where it has none for those that must be there.
    private func columns(on terminal: Terminal) -> [Column] {
        func widths(_ width: (String) -> Int) -> [Int] {
            header.indices.map { index in ([header] + rows.map(\.cells)).map { width($0[index].text) }.max() ?? 0 }
        }
        let all = widths(\.terminalWidth).enumerated().map { (index: $0, width: $1) }
        guard let room = terminal.width, Self.width(of: all) > room else { return all }
        let least = widths { $0.wrapped(to: 1).map(\.terminalWidth).max() ?? 0 }
        for count in (0...optional.count).reversed() {
            var columns = all.filter { !optional.dropFirst(count).contains($0.index) }
            while Self.width(of: columns) > room,
                let widest = columns.indices.filter({ columns[$0].width > least[columns[$0].index] })
                    .max(by: { columns[$0].width < columns[$1].width })
            {
                columns[widest].width -= 1
            }
            if Self.width(of: columns) <= room { return columns }
        }
        return all
    }

    private static func width(of columns: [Column]) -> Int {
        columns.reduce(0) { $0 + $1.width } + 2 * (columns.count - 1)
    }
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
