package import UpdatePolicy

/// What a server knows without asking its database.
package struct ServerFacts: Sendable {
    /// The policy that answers; nil before there is one.
    package var policy: CompiledPolicy?
    /// Whether it was read from disk.
    package var isFromDisk = false
    /// When it was loaded.
    package var loadedAt: Timestamp?
    /// Whether the last attempt to speak with the database succeeded.
    package var databaseIsReachable = false
    /// When the database last answered; nil: never since the start.
    package var lastPolledAt: Timestamp?
    /// Where the database is; nil before the first connection. Never a user or a password.
    package var databaseAddress: String?
    /// Whether its brake is on.
    package var isBraked = false
    /// Whether it sends lockouts as such; without a policy it sends nothing.
    var sendsLockouts: Bool { policy?.sendsLockouts ?? true }
    /// The command that puts its brake on, for its machine.
    package var brakeCommand = "versiongate brake on"
    /// What is broken on this server.
    package var faults: [Fault] = []
    /// What the counts do not keep the names of.
    package var unknowns = UnknownNames()

    /// Something that is broken on this server.
    package struct Fault: Sendable, Equatable {
        /// What, and what follows from it.
        package let text: String
        /// What helps, as a command; empty where there is none.
        package let remedy: String

        /// Creates a fault.
        package init(text: String, remedy: String = "") {
            self.text = text
            self.remedy = remedy
        }
    }

    /// A server that has just begun.
    package init() {}
}

/// Names that clients sent and nobody configured, as one server noted them since its start: those that came most often.
package struct UnknownNames: Sendable {
    /// A name and how often it came.
    package struct Entry: Sendable, Equatable {
        /// The name, as the client wrote it.
        package let name: String
        /// How many checks, at most.
        package let checks: Int
        /// How many of them may be those of other names.
        package let error: Int

        /// Creates an entry.
        package init(name: String, checks: Int, error: Int) {
            self.name = name
            self.checks = checks
            self.error = error
        }
    }

    /// Bundles of apps that were not added, most checks first.
    package var bundles: [Entry] = []
    /// Languages that no text of a message was in, most checks first.
    package var languages: [Entry] = []

    /// No names.
    package init() {}
}
