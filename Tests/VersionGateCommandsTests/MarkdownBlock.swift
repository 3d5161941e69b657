import Foundation
import TestSystem

/// A fenced block of a page of the documentation.
struct MarkdownBlock: Sendable {
    /// What stands behind the opening fence.
    let language: String
    /// The number of the line of the opening fence.
    let line: Int
    var text = ""
    /// The block right below it, if that has no language: what is answered.
    var answer: String?

    /// A command and what it prints.
    struct Sample: Sendable {
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

    /// What is typed.
    var commands: String { language == "console" ? samples.map(\.command).joined(separator: "\n") : text }

    /// Whether it is a policy as a file.
    var isPolicy: Bool { language == "yaml" && text.hasPrefix("versiongate: 1\n") }

    /// The blocks of a page in order, each with its answer, which stands below it without a line between them.
    ///
    /// - Parameter page: The path in the repository.
    static func all(in page: String) throws -> [MarkdownBlock] {
        var blocks: [MarkdownBlock] = []
        var open: MarkdownBlock?
        var margin = ""
        var end = 0
        let text = try String(contentsOf: RepositoryFile.url(page), encoding: .utf8)
        for (index, line) in text.components(separatedBy: "\n").enumerated() {
            let words = line.trimmingCharacters(in: .whitespaces)
            guard words.hasPrefix("```") else {
                open?.text += (line.hasPrefix(margin) ? String(line.dropFirst(margin.count)) : line) + "\n"
                continue
            }
            guard let block = open else {
                open = MarkdownBlock(language: String(words.dropFirst(3)), line: index + 1)
                margin = String(line.prefix { $0 == " " })
                continue
            }
            if block.language.isEmpty, block.line == end + 1, blocks.last?.answer == nil {
                blocks[blocks.count - 1].answer = block.text
            } else {
                blocks.append(block)
            }
            (open, end) = (nil, index + 1)
        }
        return blocks
    }
}
