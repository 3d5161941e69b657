import Foundation
import Logging
import PolicyServer
import UpdatePolicy

/// The output of a server: log messages on standard error, the line that it is ready on standard output.
///
/// Printing never blocks, even if nobody reads the output.
struct ServerOutput: Sendable {
    /// Where log messages go.
    let log: OutputQueue
    /// The handler that formats log messages.
    let handler: LineLogHandler
    /// A logger that writes there.
    var logger: Logger { Logger(label: "versiongate") { _ in handler } }

    private let format: LogFormat
    private let results: OutputQueue

    /// How long the end of the process waits for lines that are still queued.
    private static let flushLimit: Duration = .milliseconds(500)

    /// Creates the output, and ignores the signals by which an output could end or stop the process.
    init(_ format: LogFormat, level: Logger.Level) {
        // A reader that is gone, a file that is too long, a terminal that belongs to others just now.
        for number in [SIGPIPE, SIGXFSZ, SIGTTOU] { signal(number, SIG_IGN) }
        let log = OutputQueue(descriptor: STDERR_FILENO) { count in
            format.line(.warning, "Log messages were dropped", ["log.dropped": "\(count)"], at: .now())
        }
        var handler = LineLogHandler(format, print: log.print)
        handler.logLevel = level
        self.format = format
        self.log = log
        self.handler = handler
        results = OutputQueue(descriptor: STDOUT_FILENO) { "versiongate: \($0) lines before this one are missing" }
    }

    /// Prints a line on standard output.
    func printResult(_ line: String) {
        results.print(line)
    }

    /// Prints why the server ended.
    func printError(_ error: any Error) {
        switch format {
        case .text: log.print("Error: \(error)")
        case .json: log.print(format.line(.critical, "The server ended", ["error": "\(error)"], at: .now()))
        }
    }

    /// Waits a moment until everything is written.
    func flush() {
        results.flush(within: Self.flushLimit)
        log.flush(within: Self.flushLimit)
    }
}
