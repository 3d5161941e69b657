import Foundation
import TestSystem

/// What is shown of an answer: `| grep TEXT` keeps the lines that have a text; `| await TEXT` asks until there is one.
struct TranscriptFilter {
    /// What a line must have to be kept.
    private(set) var text: String?
    /// Whether it is asked again.
    private(set) var awaits = false

    /// Takes the filter from the end of the first line of a step that has one.
    init(cutFrom step: inout String) {
        guard let match = step.firstMatch(of: #/ \| (grep|await) ('[^']*'|"[^"]*"|\S+)(?=\n|$)/#) else { return }
        text = [String](shellWordsOf: match.2).first
        awaits = match.1 == "await"
        step.removeSubrange(match.range)
    }

    /// Asks for an answer, and keeps of it what is to be shown.
    ///
    /// - Parameter keepingFirst: Whether its first line is shown, whatever it has.
    func apply(keepingFirst: Bool = false, _ ask: () async throws -> [String]) async throws -> [String] {
        guard let text else { return try await ask() }
        var answer: [String] = []
        try await Poll.until("\(text) in \(answer)") {
            answer = try await ask()
            return !awaits || answer.contains { isWanted($0, text) }
        }
        return answer.enumerated().filter { number, line in
            keepingFirst && number == 0 || line.hasPrefix("  ! ") || line.hasPrefix("  ? ") || isWanted(line, text)
        }.map(\.element)
    }

    private func isWanted(_ line: String, _ text: String) -> Bool { line.hasPrefix("    ") && line.contains(text) }
}
