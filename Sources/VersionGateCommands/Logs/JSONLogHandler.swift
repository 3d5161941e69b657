// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Foundation
import Logging
import PolicyServer
import UpdatePolicy

/// Writes each log message as a line of JSON on standard error, for programs that collect logs.
///
/// The members are `time` (UTC), `level`, `message`, which is constant for each kind of event, and `metadata` with its
/// facts.
struct JSONLogHandler: LogHandler {
    var logLevel: Logger.Level = .notice
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?

    private let write: @Sendable (Data) -> Void

    private struct Line: Encodable {
        let time: String
        let level: String
        let message: String
        let metadata: [String: String]
    }

    /// Creates a handler.
    ///
    /// - Parameter write: Gets each line, its end included.
    init(write: @escaping @Sendable (Data) -> Void = { FileHandle.standardError.write($0) }) {
        self.write = write
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let facts =
            metadata
            .merging(metadataProvider?.get() ?? [:]) { $1 }
            .merging(event.metadata ?? [:]) { $1 }
            .mapValues { "\($0)" }
        let line = Line(
            time: "\(Timestamp.now())",
            level: "\(event.level)",
            message: "\(event.message)",
            metadata: facts
        )
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard var bytes = try? encoder.encode(line) else { return }
        bytes.append(UInt8(ascii: "\n"))
        write(bytes)
    }
}
