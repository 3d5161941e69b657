import Logging
import Synchronization

/// A logger whose messages a test can read.
final class LogRecord: Sendable {
    /// One message.
    struct Entry: Sendable, Equatable {
        let level: Logger.Level
        let message: String
        let metadata: [String: String]
    }

    /// The messages at `notice` and above, as they come.
    let messages: AsyncStream<String>
    private let continuation: AsyncStream<String>.Continuation
    private let recorded = Mutex<[Entry]>([])

    init() {
        (messages, continuation) = AsyncStream.makeStream()
    }

    /// What was logged so far at `notice` and above.
    var entries: [Entry] { recorded.withLock { $0 } }

    /// A logger that writes here.
    var logger: Logger {
        var logger = Logger(label: "test", factory: { _ in Handler(record: self) })
        logger.logLevel = .notice
        return logger
    }

    private struct Handler: LogHandler {
        let record: LogRecord
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.notice

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let metadata = (event.metadata ?? [:]).mapValues { "\($0)" }
            record.recorded.withLock {
                $0.append(Entry(level: event.level, message: event.message.description, metadata: metadata))
            }
            record.continuation.yield(event.message.description)
        }
    }
}
