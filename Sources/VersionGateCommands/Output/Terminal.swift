import Foundation

/// The properties of an output stream: its width and whether it shows colours.
struct Terminal: Sendable {
    /// The characters of a line; nil where the output is not a terminal, so that no line is broken.
    let width: Int?
    /// Whether colours are shown: only on a terminal, and not if `NO_COLOR` is set (https://no-color.org).
    let usesColor: Bool

    /// A stream that is not a terminal.
    static let file = Terminal(width: nil, usesColor: false)
    /// Where results go.
    static var standardOutput: Terminal { CommandContext.current.standardOutput }
    /// Where errors, warnings and progress go.
    static var standardError: Terminal { CommandContext.current.standardError }

    /// Whether the stream is a terminal.
    var isScreen: Bool { width != nil }

    init(width: Int?, usesColor: Bool) {
        self.width = width
        self.usesColor = usesColor
    }

    /// The properties of a file descriptor.
    init(descriptor: Int32, environment: [String: String]) {
        guard isatty(descriptor) == 1 else {
            self = .file
            return
        }
        var size = winsize()
        let isKnown = ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
        width = isKnown ? Int(size.ws_col) : environment["COLUMNS"].flatMap { Int($0) } ?? 80
        usesColor = environment["NO_COLOR", default: ""].isEmpty && environment["TERM"] != "dumb"
    }

    /// A text in a style, where colours are shown.
    func styled(_ text: String, _ style: TextStyle?) -> String {
        guard let style, usesColor, !text.isEmpty else { return text }
        return "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m"
    }

    /// A text whose lines are broken at blanks where they are longer than those of the terminal.
    ///
    /// - Parameter indentation: What stands before each line of a paragraph but its first; by default what stands before
    ///   its first.
    func paragraphs(_ text: String, indentation: String? = nil) -> String {
        guard let width else { return text }
        return text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            guard String(line).terminalWidth > width else { return String(line) }
            let start = String(line.prefix { $0 == " " })
            let indentation = indentation ?? start
            return start
                + String(line.dropFirst(start.count))
                .wrapped(to: max(width - max(start.count, indentation.count), 20))
                .joined(separator: "\n" + indentation)
        }.joined(separator: "\n")
    }
}
