// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import NIOCore
import Synchronization

/// Lets a connection in or turns it away, as it is accepted and before anything is read from it.
final class ConnectionAdmission: Sendable {
    private let limits: ConnectionLimits
    private let proxies: TrustedProxies
    private let statistics: PublicListenerStatistics
    private let connectionsByAddress = Mutex<[AddressBlock: Int]>([:])

    init(limits: ConnectionLimits, proxies: TrustedProxies, statistics: PublicListenerStatistics) {
        self.limits = limits
        self.proxies = proxies
        self.statistics = statistics
    }

    /// Whether a new connection may stay; if so it is counted until it is closed.
    func admits(_ connection: any Channel) -> Bool {
        statistics.accepted.wrappingAdd(1, ordering: .relaxed)
        let open = statistics.open.wrappingAdd(1, ordering: .relaxed).newValue
        guard open <= limits.connections else {
            return turnAway(.connections)
        }
        let block = limitedBlock(of: connection)
        if let block, !enter(block) {
            return turnAway(.connectionsPerAddress)
        }
        connection.closeFuture.whenComplete { [self] _ in
            statistics.open.wrappingSubtract(1, ordering: .relaxed)
            if let block { leave(block) }
        }
        return true
    }

    private func turnAway(_ reason: RefusalReason) -> Bool {
        statistics.open.wrappingSubtract(1, ordering: .relaxed)
        statistics.admission.refusals.increment(reason)
        return false
    }

    /// The address that a connection counts for; nil when its address is not limited.
    private func limitedBlock(of connection: any Channel) -> AddressBlock? {
        guard limits.connectionsPerAddress != nil, let peer = IPAddress(connection.remoteAddress),
            !proxies.contains(peer)
        else { return nil }
        return AddressBlock(peer)
    }

    private func enter(_ block: AddressBlock) -> Bool {
        connectionsByAddress.withLock { connections in
            let count = connections[block, default: 0]
            guard count < limits.connectionsPerAddress ?? .max else { return false }
            connections[block] = count + 1
            return true
        }
    }

    private func leave(_ block: AddressBlock) {
        connectionsByAddress.withLock { connections in
            let count = connections[block, default: 0] - 1
            connections[block] = count > 0 ? count : nil
        }
    }
}
