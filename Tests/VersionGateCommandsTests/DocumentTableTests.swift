import Foundation
import TestRandom
import TestSystem
import Testing

/// Tables of the documentation that say what the program has.
@Suite("Tables of documents", .whole)
struct DocumentTableTests {
    /// The sources, with texts that stand on several lines joined.
    private static func sources() throws -> String {
        var text = ""
        for folder in ["Sources", "Migrations", "script"] {
            let paths = FileManager.default.enumerator(atPath: RepositoryFile.url(folder).path)
            while let path = paths?.nextObject() as? String {
                guard folder == "script" || path.hasSuffix(".swift") || path.hasSuffix(".sql"),
                    let file = try? String(contentsOf: RepositoryFile.url("\(folder)/\(path)"), encoding: .utf8)
                else { continue }
                for line in file.components(separatedBy: "\n") { add(line, to: &text) }
            }
        }
        return text.replacingOccurrences(of: #"\""#, with: "\"")
    }

    private static func add(_ line: String, to text: inout String) {
        let line = line.trimmingCharacters(in: .whitespaces)
        if line.hasPrefix("+ \""), text.hasSuffix("\"") {
            text.removeLast()
            text += line.dropFirst(3)
        } else if text.hasSuffix("\\") {
            text.removeLast()
            text += line
        } else if line.hasPrefix("'"), text.hasSuffix("'") {
            text.removeLast()
            text += line.dropFirst()
        } else {
            text += "\n" + line
        }
    }

    @Test("The page of troubleshooting quotes messages that the program has")
    func quotesMessages() throws {
        // Code of three words or more.
        let messages = try MarkdownTable.all(in: "Documentation/Troubleshooting.md").flatMap(\.rows)
            .flatMap { $0["what you see"].codes }.filter { $0.components(separatedBy: " ").count > 2 }
        #expect(messages.count >= 15)
        let sources = try Self.sources()
        for message in messages {
            for part in message.components(separatedBy: "...") where !part.isEmpty {
                #expect(sources.contains(part.trimmingCharacters(in: .whitespaces)), "\(message)")
            }
        }
    }
}
