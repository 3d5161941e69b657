// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

public import PolicyStore
public import Postgres

/// The checks of the last 24 hours, app by app.
public struct OverviewFigures: Sendable {
    /// The apps with the greatest share of lockouts first, then those with most checks.
    public let apps: [AppRow]
    /// How many apps there are, shown or not.
    public let total: Int64

    /// Reads the counts of all apps.
    ///
    /// - Parameter limit: The most rows.
    public init(limit: Int, _ session: PostgresSession) throws {
        apps = try CountReader(session).busiestApps(limit: limit)
        total = try CountReader(session).appCount()
    }
}
