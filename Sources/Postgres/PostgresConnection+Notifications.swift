// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

extension PostgresConnection {
    /// Starts to receive what NOTIFY sends to a channel from the moment this returns.
    ///
    /// Hot standbys and most poolers refuse it.
    public func listen(_ channel: String) async throws {
        try await execute("LISTEN \(PostgresIdentifier(channel))")
    }

    /// Waits until at least one notification is there, and returns all that are.
    ///
    /// Empty when `limit` passes without one. Those that arrived during other statements are returned at once. The
    /// connection serves nothing else meanwhile; cancelling the task ends the wait at once and keeps the connection.
    ///
    /// - Throws: `.cancelled`, or `.connectionLost` when the server goes away meanwhile.
    public func notifications(waitingUpTo limit: Duration) async throws -> [PostgresNotification] {
        try await perform { libpq in try libpq.notifications(until: .now + limit) }
    }
}
