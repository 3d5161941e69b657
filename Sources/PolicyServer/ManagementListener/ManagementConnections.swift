// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import CheckListener
import NIOCore
import Synchronization

/// The connections of the management listener; ``ConnectionSlots`` decides which are closed.
final class ManagementConnections: Sendable {
    private struct State {
        var slots: ConnectionSlots<ObjectIdentifier>
        var channels: [ObjectIdentifier: any Channel] = [:]
    }

    /// How many connections there may be before the listener accepts no more; it may accept some more at once.
    static let maximum = 64

    /// How long each connection has to send its first request before it may be closed for another one.
    private static let minimumTime = TimeAmount.milliseconds(25)

    private let state = Mutex(State(slots: ConnectionSlots(total: maximum)))

    /// Adds a connection until it is closed; called on its event loop.
    func add(_ channel: any Channel) {
        let id = ObjectIdentifier(channel)
        let isLoopback = IPAddress(channel.remoteAddress)?.isLoopback ?? true
        update { state in
            state.channels[id] = channel
            return state.slots.open(id, isLoopback: isLoopback)
        }
        // On its own event loop, which reads what has arrived on the connection before it runs this.
        let end = channel.eventLoop.scheduleTask(in: Self.minimumTime) { [self] in
            update { $0.slots.makeReplaceable(id) }
        }
        channel.closeFuture.whenComplete { [self] _ in
            end.cancel()
            update { state in
                state.slots.close(id)
                state.channels[id] = nil
                return []
            }
        }
    }

    /// Notes that a request began on a connection, or that its response ended.
    func note(_ channel: any Channel, isIdle: Bool) {
        update { state in
            state.slots.note(ObjectIdentifier(channel), isIdle: isIdle)
            return []
        }
    }

    /// Closes all connections, whatever is under way on them.
    func closeAll() {
        for channel in state.withLock({ Array($0.channels.values) }) { channel.close(promise: nil) }
    }

    /// Changes the state, and closes the connections that must be closed then.
    private func update(_ change: (inout State) -> [ObjectIdentifier]) {
        let closed = state.withLock { state in
            change(&state).compactMap { state.channels.removeValue(forKey: $0) }
        }
        for channel in closed { channel.close(promise: nil) }
    }
}
