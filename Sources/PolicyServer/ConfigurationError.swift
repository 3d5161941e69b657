// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// A setting has a value that cannot be used.
public struct ConfigurationError: Error, CustomStringConvertible {
    /// The setting, its value, and what it may be.
    public let description: String

    /// Creates an error.
    public init(_ description: String) {
        self.description = description
    }
}
