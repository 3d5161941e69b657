import Foundation
import Testing

/// What holds of everything that a command prints.
enum TranscriptRules {
    /// What commands never say: words of SQL, and of libraries.
    private static let foreignWords = [
        "INSERT", "UPDATE ", "DELETE", "NULL", "duplicate key", "invalid input syntax", "CONTEXT", "Error Domain",
        "errno", "violates", "/.build/", "SocketAddressError",
    ]

    /// A command that is printed to be typed, but for those that need no database.
    private static var printedCommand: Regex<(Substring, Substring, Substring?)> {
        #/versiongate (app|release|rule|block|feed|export|plan|apply|status|check|impact|stats|history|undo|migrate|user|database)\b(?!:| (psql )?-- )/#
    }

    /// Expects of an answer to a command that it has no foreign words, and that each command that it prints to be typed
    /// names the database.
    static func check(_ step: Transcript.Step, _ answer: [String], at location: SourceLocation) {
        guard step.action == .command else { return }
        let text = answer.joined(separator: "\n")
        if !step.text.contains("database psql"), !step.text.contains("--print") {
            for word in foreignWords where !step.text.contains(word) {
                #expect(!text.contains(word), "\"\(word)\" is no word of a command", sourceLocation: location)
            }
        }
        let isOnContext =
            !step.text.contains("=")
            || !step.text.contains(#/^[A-Z_]+=|--database-url|--private|--state-dir|versiongate serve/#)
        guard isOnContext, text.contains("versiongate "), !text.localizedCaseInsensitiveContains("usage:") else {
            return
        }
        // What was typed stands in quotes.
        let printed = text.replacing("\"versiongate ", with: "\"").matches(of: printedCommand).count
        let named = text.split(separator: " --database-url service=test", omittingEmptySubsequences: false).count - 1
        #expect(named >= printed, "a printed command does not name the database", sourceLocation: location)
    }
}
