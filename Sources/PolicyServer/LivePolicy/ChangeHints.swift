// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// What tells a follower that the policy may have changed, before it reads the revision anyway.
enum ChangeHints: Sendable {
    /// Nothing was asked for yet.
    case unknown
    /// The database notifies.
    case notifications
    /// The database cannot notify, because it is a hot standby.
    case noneOnStandby
    /// Notifications would reach whichever process of the database a pooler has at hand.
    case noneThroughPooler
    /// The database, or what stands in front of it, refuses to notify.
    case refused

    /// How long to wait for a hint before the revision is read.
    ///
    /// An edit is live within a second of its commit, also where no hint comes or one is lost: that leaves a tenth of a
    /// second to read and compile what changed where hints come, and half a second where none do.
    var pollInterval: Duration {
        switch self {
        case .notifications: .milliseconds(900)
        case .unknown, .noneOnStandby, .noneThroughPooler, .refused: .milliseconds(500)
        }
    }

    /// The same in words for the log.
    var description: String {
        switch self {
        case .unknown: "not asked for yet"
        case .notifications: "notified at once"
        case .noneOnStandby: "read twice a second, since a standby cannot notify"
        case .noneThroughPooler: "read twice a second, since a pooler stands in between"
        case .refused: "read twice a second, since it refuses to notify"
        }
    }
}
