import Logging
import PolicyServer
import UpdatePolicy

/// Formats each log message and its metadata as one line.
struct LineLogHandler: LogHandler {
    var logLevel: Logger.Level = .notice
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?

    private let format: LogFormat
    private let print: @Sendable (String) -> Void

    /// Creates a handler.
    ///
    /// - Parameters:
    ///   - format: What the lines look like.
    ///   - print: Receives each line without its end. It must not block, because it would block the caller.
    init(_ format: LogFormat, print: @escaping @Sendable (String) -> Void) {
        self.format = format
        self.print = print
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var facts =
            metadata
            .merging(metadataProvider?.get() ?? [:]) { $1 }
            .merging(event.metadata ?? [:]) { $1 }
            .mapValues { "\($0)" }
        if let error = event.error { facts["error"] = "\(error)" }
        print(format.line(event.level, "\(event.message)", facts, at: .now()))
    }
}
