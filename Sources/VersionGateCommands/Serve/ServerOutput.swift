import Foundation
import Logging
import PolicyServer
import UpdatePolicy

extension LogFormat {
    func line(_ level: Logger.Level, _ message: String, _ facts: [String: String], at time: Timestamp) -> String {
        let facts = facts.sorted { $0.key < $1.key }
        switch self {
        case .text:
            return "\(time) \(level) \(message.visible())"
                + facts.map { " \($0.key)=\(Self.quoted($0.value))" }.joined()
        case .json:
            let metadata = JSONValue.object(facts.map { ($0.key, .string($0.value)) })
            let line: JSONValue = ["level": "\(level)", "message": message, "metadata": metadata, "time": time]
            return line.text
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

struct LineLogHandler: LogHandler {
    var logLevel: Logger.Level = .notice
    var metadata: Logger.Metadata = [:]

    private let format: LogFormat
    private let print: @Sendable (String) -> Void

    init(_ format: LogFormat, print: @escaping @Sendable (String) -> Void) {
        (self.format, self.print) = (format, print)
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var facts = metadata.merging(event.metadata ?? [:]) { $1 }.mapValues { "\($0)" }
        if let error = event.error { facts["error"] = "\(error)" }
        print(format.line(event.level, "\(event.message)", facts, at: .now()))
    }
}

/// The output of a server: log messages on standard error, the line that it is ready on standard output.
///
/// Printing never blocks, even if nobody reads the output.
struct ServerOutput: Sendable {
    let log: LineOutput
    let handler: LineLogHandler
    var logger: Logger { Logger(label: "versiongate") { _ in handler } }

    private let format: LogFormat
    private let results: LineOutput

    init(_ format: LogFormat, level: Logger.Level) {
        // A reader that is gone, a file that is too long, a terminal that belongs to others just now.
        for number in [SIGPIPE, SIGXFSZ, SIGTTOU] { signal(number, SIG_IGN) }
        let log = LineOutput(descriptor: STDERR_FILENO) { count in
            format.line(.warning, "Log messages were dropped", ["log.dropped": "\(count)"], at: .now())
        }
        var handler = LineLogHandler(format, print: log.print)
        handler.logLevel = level
        (self.format, self.log, self.handler) = (format, log, handler)
        results = LineOutput(descriptor: STDOUT_FILENO) { "versiongate: \($0) lines before this one are missing" }
    }

    func printResult(_ line: String) { results.print(line) }

    func printError(_ error: any Error) {
        switch format {
        case .text: log.print("Error: \(error)")
        case .json: log.print(format.line(.critical, "The server ended", ["error": "\(error)"], at: .now()))
        }
    }

    /// Says what is missing at the end.
    func finish() {
        for output in [results, log] { output.finish() }
    }
}
