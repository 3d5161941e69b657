// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

public import UpdatePolicy

/// How many checks of an app in an hour were of kinds of clients beyond what is kept apart.
///
/// They are among the counts of checks, too: with their version alone where it is that of a release, else without
/// anything.
public struct MergedCount: Sendable, Hashable {
    /// The start of the hour.
    public var hour: Timestamp
    /// The app's bundle as the policy spells it.
    public var bundle: String
    /// How many checks were answered.
    public var checks: Int

    /// Creates a count.
    public init(hour: Timestamp, bundle: String, checks: Int) {
        self.hour = hour
        self.bundle = bundle
        self.checks = checks
    }
}
