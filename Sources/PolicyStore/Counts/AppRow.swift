// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// An app with its checks.
public struct AppRow: Sendable, Equatable {
    /// The app.
    public let bundle: String
    /// Its name, if it has one.
    public let name: String?
    /// Whether it is paused.
    public let paused: Bool
    /// The checks of the last 24 hours.
    public let last: CheckTotals
    /// The checks of the 24 hours before those.
    public let before: CheckTotals
}

/// Apps with their checks, and what all of them have together.
public struct AppRows: Sendable, Equatable {
    /// The apps with the greatest share of lockouts in the last 24 hours first, then those with most checks.
    public let rows: [AppRow]
    /// How many apps there are, listed or not.
    public let count: Int64
    /// The checks of all apps in the last 24 hours.
    public let last: CheckTotals
    /// The checks of all apps in the 24 hours before those.
    public let before: CheckTotals
}
