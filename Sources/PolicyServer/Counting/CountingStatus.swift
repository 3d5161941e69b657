// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

public import UpdatePolicy

/// How the counting of checks goes, in checks since the server started.
public struct CountingStatus: Sendable, Equatable {
    /// Checks that were answered and counted in memory.
    public internal(set) var recorded = 0
    /// Those among them whose app the policy does not list; they are counted without their kind.
    public internal(set) var unlistedApp = 0
    /// Those among them whose kind is beyond the bound on kinds; they are counted without their kind.
    public internal(set) var beyondBound = 0
    /// Those among them that named a version which cannot be read.
    public internal(set) var unreadableVersion = 0
    /// Checks whose counts the database has.
    public internal(set) var written = 0
    /// Checks whose counts were dropped, because the database could not be written.
    public internal(set) var dropped = 0
    /// When the database was written last; nil before the first time.
    public internal(set) var lastWritten: Timestamp?
    /// Whether the last attempt to write succeeded; nil before the first one.
    public internal(set) var isWritable: Bool?

    /// Checks that are counted in the one row without a kind.
    public var otherKind: Int { unlistedApp + beyondBound }
}
