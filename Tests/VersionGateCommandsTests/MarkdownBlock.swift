import Foundation
import TestSystem

/// A fenced block of a page of the documentation.
struct MarkdownBlock {
    /// What stands behind the opening fence: the language, and more.
    let language: String
    let text: String

    /// A command and what it prints.
    struct Sample {
        let command: String
        let output: String
    }

    /// What a block of the language `console` shows: a command begins with `$ ` and goes on after a backslash at the end of
    /// a line; what follows is its output.
    var samples: [Sample] {
        var samples: [Sample] = []
        var command: [Substring] = []
        var output: [Substring] = []
        func finish() {
            guard !command.isEmpty else { return }
            samples.append(Sample(command: command.joined(separator: "\n"), output: output.joined(separator: "\n")))
        }
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("$ ") {
                finish()
                command = [line.dropFirst(2)]
                output = []
            } else if output.isEmpty, command.last?.hasSuffix("\\") == true {
                command.append(line)
            } else {
                output.append(line)
            }
        }
        finish()
        return samples
    }

    /// The blocks of a page in order.
    ///
    /// - Parameter page: The path in the repository.
    static func all(in page: String) throws -> [MarkdownBlock] {
        let file = RepositoryFile.url(page)
        var blocks: [MarkdownBlock] = []
        for (number, part) in try String(contentsOf: file, encoding: .utf8).components(separatedBy: "```").enumerated()
        where number % 2 == 1 {
            let lines = part.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
            blocks.append(MarkdownBlock(language: String(lines[0]), text: lines.count > 1 ? String(lines[1]) : ""))
        }
        return blocks
    }
}
