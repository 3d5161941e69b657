// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

public import UpdatePolicy

/// What is known about the loading of the policy: where it is from, since when, and what went wrong last.
public struct PolicyStatus: Sendable, Equatable {
    /// Where the policy that answers was loaded from; nil before there is one.
    public internal(set) var source: Source?
    /// When the policy that answers was loaded.
    public internal(set) var loadedAt: Timestamp?
    /// Why the newest policy could not be loaded; nil when the last attempt succeeded.
    public internal(set) var failure: Failure?
    /// How long the loads that succeeded took.
    var reloads = DurationHistogram()
    /// How often a policy could not be loaded.
    public internal(set) var failureCount = 0
    /// Why the policy on disk could not be used or written; nil when the last attempt succeeded.
    public internal(set) var fileFault: String?
    /// Whether the last attempt to speak with the database succeeded.
    public internal(set) var databaseIsReachable = false

    /// When the database last said which revision it has; nil before it did.
    public internal(set) var lastPolledAt: Timestamp?
    /// By when the follower of the database must have taken its next step; nil while there is none.
    var followerDue: ContinuousClock.Instant?

    /// Whether the follower stands still: it has not taken a step for much longer than any of its steps may take.
    ///
    /// A database that is down, silent or far away does not make it stand still, for each of its attempts has a bound.
    func followerIsStalled(at now: ContinuousClock.Instant) -> Bool {
        followerDue.map { now > $0 } ?? false
    }

    /// Where a policy can be from.
    public enum Source: String, Sendable {
        /// The tables of the database.
        case database
        /// The last good policy on this machine's disk.
        case file
    }

    /// A failed attempt to load a policy.
    public struct Failure: Sendable, Equatable {
        /// What went wrong, for people.
        public let reason: String
        /// When it went wrong.
        public let at: Timestamp
    }
}
