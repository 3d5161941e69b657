extension PostgresConnection {
    /// Whether something stands between this connection and the server that may give every transaction to another of the
    /// server's processes: PgBouncer or another pooler.
    ///
    /// A server sends each connection its process ID. A pooler sends an invented one, because it has to map cancel requests
    /// later.
    public func isPooled() async throws -> Bool {
        try await withSession { session in
            try session.query("SELECT pg_backend_pid()").value(as: Int32.self) != session.backendPID
        }
    }

    /// Starts to receive what NOTIFY sends to a channel from the moment this returns.
    ///
    /// A hot standby refuses it. A pooler may accept it for whichever of the server's processes it has at hand, whose
    /// notifications then reach nobody; ask ``isPooled()`` first.
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

/// A notification that NOTIFY sent to a channel of this connection.
public struct PostgresNotification: Sendable, Hashable {
    /// The channel.
    public var channel: String
    /// The payload; empty if there was none.
    public var payload: String
    /// The process of the server that sent it.
    public var processID: Int32
}
