// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Glibc
import NIOCore

extension ListenAddress {
    /// Finds out whether a listener can be opened here, without opening it, so that a start that must fail fails before
    /// anything else is done or logged.
    ///
    /// - Parameter listener: `public` or `management`.
    /// - Throws: ``ListenerError``
    func requireAvailable(for listener: String) throws(ListenerError) {
        guard port != 0 else { return }
        do {
            let address = try SocketAddress.makeAddressResolvingHost(host, port: port)
            let descriptor = socket(address.protocol.rawValue, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            guard descriptor >= 0 else { throw IOError(errnoCode: errno, reason: "socket") }
            defer { close(descriptor) }
            var isReused: Int32 = 1
            setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &isReused, socklen_t(MemoryLayout<Int32>.size))
            let status = address.withSockAddr { bind(descriptor, $0, socklen_t($1)) }
            guard status == 0 else { throw IOError(errnoCode: errno, reason: "bind") }
        } catch {
            throw ListenerError(listener: listener, address: self, reason: error)
        }
    }
}
