import Foundation
import Logging
import PolicyServer
import UpdatePolicy

extension LogFormat {
    private struct Line: Encodable {
        let time: String
        let level: String
        let message: String
        let metadata: [String: String]
    }

    /// The line of a message, without its end.
    func line(_ level: Logger.Level, _ message: String, _ facts: [String: String], at time: Timestamp) -> String {
        switch self {
        case .text:
            let facts = facts.sorted { $0.key < $1.key }.map { " \($0.key)=\(Self.quoted($0.value))" }
            return "\(time) \(level) \(message.visible())\(facts.joined())"
        case .json:
            let line = Line(time: "\(time)", level: "\(level)", message: message, metadata: facts)
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            guard let bytes = try? encoder.encode(line) else { return "{}" }
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    /// A value in quotes where it would not be seen as one otherwise.
    private static func quoted(_ value: String) -> String {
        let isPlain = !value.isEmpty && value.allSatisfy { !$0.isWhitespace && $0 != "\"" && $0 != "=" && $0 != "\\" }
        guard !isPlain else { return value.visible() }
        let escaped = value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        return "\"\(escaped.visible())\""
    }
}
