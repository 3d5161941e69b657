package import UpdatePolicy

/// What a server knows without asking its database.
package struct ServerFacts: Sendable {
    /// A name that clients sent and nobody configured, and how many checks have it at most; `error` of them may be those of
    /// other names.
    package typealias UnknownName = (name: String, checks: Int, error: Int)

    /// The policy that answers; nil before there is one.
    package var policy: CompiledPolicy?
    package var isFromDisk = false
    package var loadedAt: Timestamp?
    /// Whether the last attempt to speak with the database succeeded.
    package var databaseIsReachable = false
    /// When the database last answered; nil: never since the start.
    package var lastPolledAt: Timestamp?
    /// Where the database is; nil before the first connection. Never a user or a password.
    package var databaseAddress: String?
    package var isBraked = false
    /// Whether it sends lockouts as such; without a policy it sends nothing.
    var sendsLockouts: Bool { policy?.sendsLockouts ?? true }
    /// The command that puts its brake on, for its machine.
    package var brakeCommand = "versiongate brake on"
    /// What is broken on this server, what follows from it, and the command that helps.
    package var faults: [(text: String, remedy: String?)] = []
    /// Bundles of apps that were not added, as this server noted them since its start, most checks first.
    package var unknownBundles: [UnknownName] = []
    /// Languages that no text of a message was in, most checks first.
    package var unknownLanguages: [UnknownName] = []

    package init() {}
}
