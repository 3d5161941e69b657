// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import PolicyStore
import UpdatePolicy

/// Decides whether what the database says about its revision is a reason to load the policy.
///
/// The token decides, not the number: a database that was restored from a dump and edited again can stand at the same
/// revision with other contents. A lower revision is usually a standby that lags behind, so it is believed only after it
/// stood still for a while.
struct ReloadDecision {
    /// How long a lower revision must stand before it is taken.
    static let lowerRevisionMustStandMicroseconds: Int64 = 30_000_000

    private var answering: PolicyVersion?
    private var rejected: PolicyVersion?
    private var lower: (version: PolicyVersion, since: Timestamp)?

    /// Whether to load now that the database was seen at `version`.
    mutating func shouldLoad(_ version: PolicyVersion, at now: Timestamp) -> Bool {
        if version.token == answering?.token || version.token == rejected?.token {
            lower = nil
            return false
        }
        guard let answering, version.revision < answering.revision else {
            lower = nil
            return true
        }
        guard let lower, lower.version.token == version.token else {
            self.lower = (version, since: now)
            return false
        }
        return now.microsecondsSince1970 - lower.since.microsecondsSince1970 >= Self.lowerRevisionMustStandMicroseconds
    }

    /// Notes that the policy of this version answers now.
    mutating func loaded(_ version: PolicyVersion) {
        answering = version
        rejected = nil
        lower = nil
    }

    /// Notes that this version cannot be compiled, which trying again would not change.
    mutating func rejected(_ version: PolicyVersion) {
        rejected = version
    }
}
