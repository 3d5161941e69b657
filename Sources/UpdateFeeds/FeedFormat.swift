// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// A format that an update client reads.
public enum FeedFormat: String, Sendable, CaseIterable {
    /// The property list of release notes that iVersion reads.
    case iVersion = "iversion.plist"
}
