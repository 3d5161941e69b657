import Foundation
import TestRandom
import TestSystem
import Testing

@Suite("Troubleshooting page", .whole)
struct TroubleshootingPageTests {
    private static let page = "Documentation/Troubleshooting.md"

    /// The messages in the first column of the tables: code of three words or more.
    private static func messages() throws -> [String] {
        let text = try String(contentsOf: RepositoryFile.url(page), encoding: .utf8)
        return text.components(separatedBy: "\n").filter { $0.hasPrefix("| ") }
            .flatMap { line in
                line.components(separatedBy: " | ")[0].components(separatedBy: "`").enumerated()
                    .filter { $0.offset % 2 == 1 }.map(\.element)
            }
            .filter { $0.components(separatedBy: " ").count > 2 }
    }

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

    @Test("The troubleshooting page quotes messages that the program has")
    func quotesMessages() throws {
        let messages = try Self.messages()
        #expect(messages.count >= 50)
        let sources = try Self.sources()
        for message in messages {
            for part in message.components(separatedBy: "...") where !part.isEmpty {
                #expect(sources.contains(part.trimmingCharacters(in: .whitespaces)), "\(message)")
            }
        }
    }
}
