// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import NIOCore
import Synchronization

/// The connections of the management listener; see ``ManagementPlaces`` for which of them stay.
final class ManagementConnections: Sendable {
    private struct State {
        var places: ManagementPlaces<ObjectIdentifier>
        var channels: [ObjectIdentifier: any Channel] = [:]
    }

    private let state: Mutex<State>

    /// - Parameters:
    ///   - total: How many connections there may be; each takes a file from those that the server keeps for itself.
    ///   - keptForLoopback: How many of them may only be from this machine.
    init(total: Int = 64, keptForLoopback: Int = 4) {
        state = Mutex(State(places: ManagementPlaces(total: total, keptForLoopback: keptForLoopback)))
    }

    /// Adds a connection until it is closed; closes another one if there are too many.
    func add(_ channel: any Channel) {
        let id = ObjectIdentifier(channel)
        let isLoopback = IPAddress(channel.remoteAddress)?.isLoopback ?? true
        let lost = state.withLock { state -> (any Channel)? in
            state.channels[id] = channel
            return state.places.open(id, isLoopback: isLoopback).flatMap { state.channels.removeValue(forKey: $0) }
        }
        lost?.close(promise: nil)
        channel.closeFuture.whenComplete { [self] _ in
            state.withLock { state in
                state.places.close(id)
                _ = state.channels.removeValue(forKey: id)
            }
        }
    }

    /// Notes that a request began on a connection, or that its response ended.
    func note(_ channel: any Channel, isIdle: Bool) {
        state.withLock { $0.places.note(ObjectIdentifier(channel), isIdle: isIdle) }
    }

    /// Closes all connections, whatever is under way on them.
    func closeAll() {
        for channel in state.withLock({ Array($0.channels.values) }) { channel.close(promise: nil) }
    }
}

extension IPAddress {
    /// Whether this is an address of the machine for itself: 127.0.0.0/8 or `::1`.
    fileprivate var isLoopback: Bool {
        isIPv4 ? low & 0xFF00_0000 == 0x7F00_0000 : high == 0 && low == 1
    }
}
