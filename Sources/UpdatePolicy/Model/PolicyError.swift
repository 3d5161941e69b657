// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// A row because of which a policy cannot be compiled.
///
/// The database refuses such rows when they are written; a policy that has one comes from elsewhere, or from a newer
/// schema.
public struct PolicyError: Error, Sendable, Equatable {
    /// The row: `rule security-2.3`, `release 12`, `app com.example.doto`.
    public let row: String

    /// What is wrong with it.
    public let reason: String

    /// A fault of a row.
    public init(row: String, reason: String) {
        self.row = row
        self.reason = reason
    }
}

extension PolicyError: CustomStringConvertible {
    /// The row and what is wrong with it.
    public var description: String { "\(row): \(reason)" }
}
