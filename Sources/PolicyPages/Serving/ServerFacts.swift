// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

public import UpdatePolicy

/// What a server knows without asking its database.
public struct ServerFacts: Sendable {
    /// The policy that answers; nil before there is one.
    public var policy: CompiledPolicy?
    /// Whether it was read from disk, because the database was away at the start.
    public var isFromDisk = false
    /// When it was loaded.
    public var loadedAt: Timestamp?
    /// Whether the last attempt to speak with the database succeeded.
    public var databaseIsReachable = false
    /// When the database last answered; nil: never since the start.
    public var lastPolledAt: Timestamp?
    /// Why the newest policy could not be loaded, and since when; nil: it could.
    public var fault: (reason: String, at: Timestamp)?
    /// What the counts do not keep the names of.
    public var unknowns = UnknownNames()

    /// A server that has just begun.
    public init() {}
}

/// Names that clients sent and nobody configured, as one server noted them since its start: those that came most often.
public struct UnknownNames: Sendable {
    /// A name and how often it came.
    public struct Entry: Sendable, Equatable {
        /// The name, as the client wrote it.
        public let name: String
        /// How many checks, at most.
        public let checks: Int
        /// How many of them may be those of other names.
        public let error: Int

        /// Creates an entry.
        public init(name: String, checks: Int, error: Int) {
            self.name = name
            self.checks = checks
            self.error = error
        }
    }

    /// Bundles of apps that were not added, most checks first.
    public var bundles: [Entry] = []
    /// Languages that no text of a message was in, most checks first.
    public var languages: [Entry] = []

    /// No names.
    public init() {}
}
