// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// A fault of a template: where it is, what it is, and what to write.
public struct FeedTemplateFault: Error, Sendable, Hashable {
    /// The line, counted from 1.
    public let line: Int
    /// The column, counted from 1 in characters.
    public let column: Int
    /// The fault in a sentence.
    public let message: String
    /// What to write.
    public let hint: String

    /// The fault as compilers report theirs: `FILE:LINE:COLUMN: message`, and the hint on a line of its own.
    public func description(file: String) -> String { "\(file):\(line):\(column): \(message)\nHint: \(hint)" }
}
