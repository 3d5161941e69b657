// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// How many days are recent unless something else is said.
enum RecentDays {
    /// A week, so that every day of the week is in it.
    static let usual = 7
}
