import CheckListener
import PolicyStore
import UpdatePolicy

/// The status of loading: where the policy is from, since when, and the last failure.
struct PolicyStatus: Sendable, Equatable {
    /// Where the policy that answers was loaded from; nil before there is one.
    var source: Source?
    var loadedAt: Timestamp?
    /// Why the newest policy could not be loaded; nil when the last attempt succeeded.
    var failure: Failure?
    /// How long the loads that succeeded took.
    var reloads = DurationHistogram()
    /// How often a policy could not be loaded.
    var failureCount = 0
    /// Why the policy on disk could not be used or written; nil when the last attempt succeeded.
    var fileFault: String?
    /// Whether loading a policy was tried, from the database and then from disk.
    var isFirstLoadTried = false
    /// Whether the last attempt to speak with the database succeeded.
    var databaseIsReachable = false
    /// Where the database is; nil before the first connection. Never a user or a password.
    var databaseAddress: String?
    /// When the database last said which revision it has; nil before it did.
    var lastPolledAt: Timestamp?
    /// The newest policy of the database, if servers died of it so often that it is not taken.
    var heldBack: PolicyVersion?
    /// Until when the policy that answers stands in for one that is held back; nil: it does not.
    var standsInUntil: Timestamp?
    /// Whether a policy is not taken because servers died of it, as far as this server knows.
    var isHoldingBack: Bool { heldBack != nil || standsInUntil != nil }
    /// Whether lockouts are sent as such: those of a policy that stands in may have been taken away since.
    var sendsLockouts: Bool { brake == nil && standsInUntil == nil }
    /// The brake; nil while it is off.
    var brake: Brake?
    /// Why nobody knows whether the brake is on; nil: it is known.
    var brakeFault: String?
    /// How many seconds the clock of the database is ahead of that of this machine; nil before it said its time.
    var databaseClockOffset: Double?
    /// By when the follower of the database must have taken its next step; nil while there is none.
    var followerDue: ContinuousClock.Instant?

    /// The port of the public listener; nil before it is open.
    var publicPort: Int?
    /// What this machine calls itself, with the port of the public listener: `gate-1:8080`.
    var serverName: String { Machine.name + (publicPort.map { ":\($0)" } ?? "") }
    /// Whether the server is shutting down, which `/ready` shows to load balancers before any connection ends.
    var isShuttingDown = false

    /// Notes that a policy could not be loaded; the one before it keeps answering.
    ///
    /// - Parameter rejected: The revision, if it cannot be compiled; nil where something else is at fault.
    mutating func fail(_ reason: String, rejecting rejected: Int64? = nil, at now: Timestamp) {
        failure = Failure(reason: reason, at: now, rejected: rejected)
        failureCount += 1
    }

    /// Whether the follower is stalled: its current step takes much longer than any step may take.
    ///
    /// A database that is down, silent or far away does not stall it: each attempt has a timeout.
    func followerIsStalled(at now: ContinuousClock.Instant) -> Bool {
        followerDue.map { now > $0 } ?? false
    }

    /// The brake is on: lockouts are sent as plain messages.
    struct Brake: Sendable, Equatable, CustomStringConvertible {
        /// The file that says so.
        let file: BrakeFile
        /// Why, as the file has it; may be empty.
        let why: String

        var description: String { file.path + (why.isEmpty ? "" : ": \(why)") }
    }

    enum Source: String, Sendable {
        case database
        /// The last good policy on this machine's disk.
        case file
    }

    struct Failure: Sendable, Equatable {
        let reason: String
        let at: Timestamp
        /// The revision that cannot be compiled; nil where something else than an edit is at fault.
        var rejected: Int64?
    }
}
