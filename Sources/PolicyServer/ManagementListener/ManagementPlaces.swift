// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// Which connections the management listener closes to make room for new ones.
///
/// While all places are taken, the listener accepts nobody, and new connections wait in the kernel in the order in which
/// they came. A connection that has had its time to send a request gives way to them. So whoever asks for `/live`, and
/// finds room among those that wait, is read, however many others hold connections and say nothing.
struct ManagementPlaces<ID: Hashable> {
    private struct Connection {
        let id: ID
        let isLoopback: Bool
        /// Whether it has had its time to send a request; before, nobody takes its place.
        var canGiveWay = false
        /// Whether no request is being answered.
        var isIdle = true
        /// When something happened on it last, as the number of that event.
        var lastEvent: Int
    }

    private let total: Int
    private var connections: [Connection] = []
    private var events = 0

    /// - Parameter total: How many connections there may be.
    init(total: Int) {
        self.total = total
    }

    /// A connection was opened.
    ///
    /// - Returns: The connections that must be closed.
    mutating func open(_ id: ID, isLoopback: Bool) -> [ID] {
        events += 1
        connections.append(Connection(id: id, isLoopback: isLoopback, lastEvent: events))
        return makeRoom()
    }

    /// A connection has had its time to send a request.
    ///
    /// - Returns: The connections that must be closed.
    mutating func allowToGiveWay(_ id: ID) -> [ID] {
        guard let index = connections.firstIndex(where: { $0.id == id }) else { return [] }
        connections[index].canGiveWay = true
        return makeRoom()
    }

    /// A request began on a connection, or its response ended.
    mutating func note(_ id: ID, isIdle: Bool) {
        guard let index = connections.firstIndex(where: { $0.id == id }) else { return }
        events += 1
        connections[index].isIdle = isIdle
        connections[index].lastEvent = events
    }

    /// A connection was closed.
    mutating func close(_ id: ID) {
        connections.removeAll { $0.id == id }
    }

    /// Gives up connections until there is a place, or all that are left must have their time first.
    private mutating func makeRoom() -> [ID] {
        var closed: [ID] = []
        while connections.count >= total, let id = connectionToClose() {
            close(id)
            closed.append(id)
        }
        return closed
    }

    /// The connection that has done nothing for longest.
    ///
    /// Those that are idle go before those that are being answered, and among each those from elsewhere before those from
    /// this machine, so that no other one takes the place of a local health check.
    private func connectionToClose() -> ID? {
        connections.filter(\.canGiveWay).min { left, right in
            if left.isIdle != right.isIdle { return left.isIdle }
            if left.isLoopback != right.isLoopback { return !left.isLoopback }
            return left.lastEvent < right.lastEvent
        }?.id
    }
}
