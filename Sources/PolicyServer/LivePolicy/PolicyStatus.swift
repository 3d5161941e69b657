// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import CheckListener
public import PolicyStore
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
    /// When a policy was last replaced by one that does not continue it; nil: never since the start.
    public internal(set) var replacement: Replacement?
    /// Whether loading a policy was tried, from the database and then from disk.
    var isFirstLoadTried = false
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

    /// A policy was replaced by one that does not continue it: the revision fell, or the history is another one.
    public struct Replacement: Sendable, Equatable, CustomStringConvertible {
        /// What was replaced.
        public let before: PolicyVersion
        /// What was in its place then.
        public let after: PolicyVersion
        /// When it was replaced.
        public let at: Timestamp
        /// The file in which the policy before is kept; nil while it is not, or where no state is kept.
        public internal(set) var keptAs: String?

        /// What happened, for people.
        public var description: String {
            "revision \(before.revision) was replaced by revision \(after.revision), "
                + (after.revision < before.revision ? "which is lower" : "which is of another history")
                + ", at \(at)" + (keptAs.map { "; it is kept in \($0)" } ?? "")
        }
    }

    /// A failed attempt to load a policy.
    public struct Failure: Sendable, Equatable {
        /// What went wrong, for people.
        public let reason: String
        /// When it went wrong.
        public let at: Timestamp
    }
}
