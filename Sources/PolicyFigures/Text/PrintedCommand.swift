// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Foundation
import UpdatePolicy

/// A command that is printed to be typed, on a terminal, in a log or on a page: the only way in which one is.
///
/// It names the database that this process was told to use, because another may be meant where it is typed. What only the
/// environment says by `DATABASE_URL` or `VERSIONGATE_STATE_DIR` is left to the environment; but for a server, whose pages
/// and logs are read elsewhere.
public struct PrintedCommand: CustomStringConvertible, Sendable {
    private let words: String

    /// - Parameter words: What stands behind the name of the program, each word as a shell takes it.
    public init(_ words: String) {
        self.words = words
    }

    /// `versiongate undo 4 --context staging`
    public var description: String { (["versiongate", words] + Self.database).joined(separator: " ") }

    /// The text of a command, for what takes a function.
    public static func text(_ words: String) -> String { "\(PrintedCommand(words))" }

    /// The options that name the database of this process.
    private static let database = DatabaseWords(
        ProcessArguments.words,
        environment: ProcessInfo.processInfo.environment
    ).toType.map(\.shellWord)
}
