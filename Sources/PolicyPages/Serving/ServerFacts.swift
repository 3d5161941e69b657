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
    /// Where the database is; nil before the first connection. Never a user or a password.
    public var databaseAddress: String?
    /// What is broken on this server.
    public var faults: [Fault] = []
    /// What the counts do not keep the names of.
    public var unknowns = UnknownNames()

    /// Something that is broken on this server.
    public struct Fault: Sendable, Equatable {
        /// What, and what follows from it.
        public let text: String
        /// What helps, as a command; empty where there is none.
        public let remedy: String

        /// Creates a fault.
        public init(text: String, remedy: String = "") {
            self.text = text
            self.remedy = remedy
        }
    }

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
