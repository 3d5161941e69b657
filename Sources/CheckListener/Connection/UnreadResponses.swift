/// Bounds the responses that the connections of one event loop keep until their clients read, all together.
final class UnreadResponses {
    private let maximum: Int
    private let connections: ConnectionTimeouts
    private var bytes = 0

    /// Creates the bound of an event loop.
    init(maximum: Int, connections: ConnectionTimeouts) {
        self.maximum = maximum
        self.connections = connections
    }

    /// Some connection keeps so many bytes more, or, below zero, less.
    ///
    /// Beyond the maximum the connections that keep most are closed, until an eighth of it is free: so not each of many
    /// responses looks at all connections.
    func add(_ byteCount: Int) {
        bytes += byteCount
        guard byteCount > 0, bytes > maximum else { return }
        for connection in connections.byUnreadBytes where bytes > maximum / 8 * 7 { connection.abandon() }
    }
}
