// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// Which connections the management listener closes to make room for new ones.
///
/// While all slots are taken, the listener accepts no connection, and new ones wait in the kernel in the order of their
/// arrival. A connection that has had its time to send a request is closed for them. So a request for `/live` that finds
/// room in that queue is read, however many silent connections there are.
struct ConnectionSlots<ID: Hashable> {
    private struct Connection {
        let id: ID
        let isLoopback: Bool
        /// Whether it has had its time to send a request; it is not closed for another one before.
        var isReplaceable = false
        /// Whether no request is being answered.
        var isIdle = true
        /// The index of the last event on it.
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
    mutating func makeReplaceable(_ id: ID) -> [ID] {
        guard let index = connections.firstIndex(where: { $0.id == id }) else { return [] }
        connections[index].isReplaceable = true
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

    /// Closes connections until a slot is free, or all that are left must have their time first.
    private mutating func makeRoom() -> [ID] {
        var closed: [ID] = []
        while connections.count >= total, let id = connectionToClose() {
            close(id)
            closed.append(id)
        }
        return closed
    }

    /// The connection to close next.
    ///
    /// Idle ones before those with a request, remote ones before local ones (so that no remote client replaces a local
    /// health check), and among equals the one without an event for the longest time.
    private func connectionToClose() -> ID? {
        connections.filter(\.isReplaceable).min { left, right in
            if left.isIdle != right.isIdle { return left.isIdle }
            if left.isLoopback != right.isLoopback { return !left.isLoopback }
            return left.lastEvent < right.lastEvent
        }?.id
    }
}
