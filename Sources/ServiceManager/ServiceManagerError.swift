// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// A reason why the service manager cannot be told anything, or cannot hand over a socket.
public struct ServiceManagerError: Error, Equatable, CustomStringConvertible {
    /// What is wrong and with which variable.
    public let description: String

    init(_ description: String) {
        self.description = description
    }
}
