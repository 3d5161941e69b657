// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// Which connections the management listener keeps when there are more than it has places for.
///
/// A new connection always gets a place, and one that has done nothing for longest loses its own: whoever asks for
/// `/live` must be answered, also while somebody else holds connections and says nothing. Some places are for this
/// machine alone, so that no other one can take them all.
struct ManagementPlaces<ID: Hashable> {
    private struct Connection {
        let id: ID
        let isLoopback: Bool
        /// Whether no request is being answered.
        var isIdle = true
        /// When something happened on it last, as the number of that event.
        var lastEvent: Int
    }

    private let total: Int
    private let keptForLoopback: Int
    private var connections: [Connection] = []
    private var events = 0

    /// - Parameters:
    ///   - total: How many connections there may be.
    ///   - keptForLoopback: How many of them may only be from this machine.
    init(total: Int, keptForLoopback: Int) {
        self.total = total
        self.keptForLoopback = keptForLoopback
    }

    /// A connection was opened.
    ///
    /// - Returns: The connection that must be closed for it; nil when there is a place.
    mutating func open(_ id: ID, isLoopback: Bool) -> ID? {
        let lost = connectionToClose(forLoopback: isLoopback)
        if let lost { close(lost) }
        events += 1
        connections.append(Connection(id: id, isLoopback: isLoopback, lastEvent: events))
        return lost
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

    /// The connection that has done nothing for longest, among those that are idle if there are any.
    ///
    /// Connections from elsewhere make room for each other, and for this machine before its own do.
    private func connectionToClose(forLoopback isLoopback: Bool) -> ID? {
        let foreign = connections.filter { !$0.isLoopback }
        let isFull = connections.count >= total
        guard isFull || (!isLoopback && foreign.count >= total - keptForLoopback) else { return nil }
        let candidates = foreign.isEmpty ? connections : foreign
        let idle = candidates.filter(\.isIdle)
        return (idle.isEmpty ? candidates : idle).min { $0.lastEvent < $1.lastEvent }?.id
    }
}
