// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// How checks are counted.
struct CountingConfiguration: Sendable, Equatable {
    /// How often counts are written to the database; nil: checks are not counted.
    var interval: Duration?
    /// How many kinds of clients are counted separately in an hour, on all cores together; not negative.
    var maximumKinds: Int
    /// How many days are kept in the database, the current one not counted; at least 1.
    var daysKept: Int

    /// Creates a configuration.
    init(interval: Duration? = .seconds(10), maximumKinds: Int = 50_000, daysKept: Int = 400) {
        self.interval = interval
        self.maximumKinds = maximumKinds
        self.daysKept = daysKept
    }
}
