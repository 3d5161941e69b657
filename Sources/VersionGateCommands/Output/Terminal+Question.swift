import Foundation
import UpdatePolicy

extension Terminal {
    /// The width of charts where the output is not a terminal.
    static let usualWidth = 80

    /// How wide charts may be.
    var chartWidth: Int { width ?? Self.usualWidth }

    /// Whether a question can be asked: standard input and output are a terminal.
    static var canAsk: Bool { CommandContext.current.hasKeyboard && standardOutput.isScreen }

    /// Asks a question on standard output; `y` or `yes` is yes, anything else, also the end of the input, is no.
    static func confirms(_ question: String) -> Bool {
        print(standardOutput.paragraphs("\(question) [y/N] "), terminator: "")
        fflush(nil)
        let answer = readLine()?.trimmingCharacters(in: .whitespaces).lowercased()
        return answer == "y" || answer == "yes"
    }
}
