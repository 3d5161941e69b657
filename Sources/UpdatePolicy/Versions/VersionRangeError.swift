// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// Why a text is no version range.
public struct VersionRangeError: Error, Sendable, Equatable {
    /// What is wrong, with the part of the text that is at fault.
    public let message: String

    /// What to write in its place.
    public let hint: String

    init(_ message: String, hint: String) {
        self.message = message
        self.hint = hint
    }
}

extension VersionRangeError: CustomStringConvertible {
    /// The message and the hint in one sentence.
    public var description: String { "\(message) (hint: \(hint))" }
}
