import Foundation

struct Terminal: Sendable {
    /// The characters of a line; nil where the output is not a terminal, so that no line is broken.
    let width: Int?
    /// Whether colours are shown: only on a terminal, and not if `NO_COLOR` is set (https://no-color.org).
    let usesColor: Bool

    static let file = Terminal(width: nil, usesColor: false)
    static var standardOutput: Terminal { CommandContext.current.standardOutput }
    static var standardError: Terminal { CommandContext.current.standardError }

    var isScreen: Bool { width != nil }

    static func of(_ descriptor: Int32, _ environment: [String: String]) -> Terminal {
        guard isatty(descriptor) == 1 else { return .file }
        var size = winsize()
        let isKnown = ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
        return Terminal(
            width: isKnown ? Int(size.ws_col) : environment["COLUMNS"].flatMap { Int($0) } ?? 80,
            usesColor: environment["NO_COLOR", default: ""].isEmpty && environment["TERM"] != "dumb"
        )
    }

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

    /// Whether standard input and output are a terminal.
    static var canAsk: Bool { CommandContext.current.hasKeyboard && standardOutput.isScreen }

    /// Asks a question on standard output; `y` or `yes` is yes, anything else, also the end of the input, is no.
    static func confirms(_ question: String) -> Bool {
        print(standardOutput.paragraphs("\(question) [y/N] "), terminator: "")
        fflush(nil)
        let answer = readLine()?.trimmingCharacters(in: .whitespaces).lowercased()
        return answer == "y" || answer == "yes"
    }
}

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

/// Shows on a terminal what a command waits for, if that takes longer than a second.
enum Progress {
    /// Runs `body`; the activity is shown on standard error after one second, and erased at the end.
    static func showing<Result>(
        _ activity: String,
        on terminal: Terminal = .standardError,
        _ body: () async throws -> Result
    ) async throws -> Result {
        guard terminal.isScreen else { return try await body() }
        let sign = Task {
            guard (try? await Task.sleep(for: .seconds(1))) != nil else { return }
            printError(terminal.styled("\(activity)...", .faint))
            while !Task.isCancelled { try? await Task.sleep(for: .seconds(60)) }
            printError("\r\u{1B}[K")
        }
        return try await ending(
            with: {
                sign.cancel()
                await sign.value
            }, body)
    }
}
