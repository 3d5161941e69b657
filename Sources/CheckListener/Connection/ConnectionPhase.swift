/// What a connection waits for; each phase has a limit of its own.
enum ConnectionPhase: Int, CaseIterable {
    /// The end of a head that has begun, or the first head of the connection.
    case head
    /// The end of a body.
    case body
    /// The next request.
    case idle
    /// The document that answers a request.
    case document
    /// That the client reads its responses.
    case unread
    /// That the client closes a connection that the server has ended.
    case lingering
}

/// Until when a connection may stay in its phase.
struct ConnectionDeadline {
    /// The tick of the event loop at which it has taken too long.
    let tick: Int
    /// Increases with each phase that a connection of the event loop enters: the lowest has waited longest.
    let order: Int
}
