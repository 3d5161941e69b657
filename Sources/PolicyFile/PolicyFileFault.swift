// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// A fault in a policy file: where it is, what it is, and what to do.
public struct PolicyFileFault: Error, Sendable, Hashable {
    /// Where the fault begins.
    public let position: FilePosition
    /// The fault in a sentence.
    public let message: String
    /// What to do about it.
    public let hint: String?

    /// A fault at a place.
    public init(_ position: FilePosition, _ message: String, hint: String? = nil) {
        self.position = position
        self.message = message
        self.hint = hint
    }

    /// The fault as compilers report theirs: `FILE:LINE:COLUMN: message`, and the hint on a line of its own.
    public func description(file: String) -> String {
        "\(file):\(position): \(message)" + (hint.map { "\nHint: \($0)" } ?? "")
    }
}

/// All faults that were found in a policy file: never none.
public struct PolicyFileFaults: Error, Sendable, Hashable {
    /// The faults, in the order of the file.
    public let faults: [PolicyFileFault]
}
