// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// Which state of the policy tables this is.
public struct PolicyVersion: Sendable, Hashable {
    /// The number of the newest change, which never falls except by a restore.
    public let revision: Int64
    /// A name that is new for every change, so that two histories with the same numbers are told apart.
    public let token: String

    /// Creates a version.
    public init(revision: Int64, token: String) {
        self.revision = revision
        self.token = token
    }
}
