// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Hummingbird
import HummingbirdCore
import Logging
import NIOCore

/// The listener for operators: liveness, readiness, metrics, the loaded policy, the descriptions of both listeners, and the
/// pages for people.
///
/// Only the pages can ask for a password; it belongs on loopback or a private network.
enum ManagementListener {
    /// The time that a connection may be idle: longer than the interval between two scrapes.
    private static let idleTimeout = TimeAmount.seconds(75)

    /// The most connections that wait in the kernel until the listener accepts them.
    private static let backlog = 1024

    /// Builds the listener as an ordinary Hummingbird application.
    ///
    /// - Parameter connections: Gets its connections.
    static func application(
        address: ListenAddress,
        responder: ManagementResponder,
        connections: ManagementConnections,
        eventLoopGroup: any EventLoopGroup,
        logger: Logger,
        onBound: @escaping @Sendable (SocketAddress) -> Void
    ) -> some ApplicationProtocol {
        Application(
            responder: responder,
            server: .http1(
                configuration: .init(
                    additionalChannelHandlers: [ManagementConnectionHandler(connections)],
                    idleTimeout: idleTimeout
                )
            ),
            configuration: ApplicationConfiguration(
                address: .hostname(address.host, port: address.port),
                backlog: backlog
            ),
            onServerRunning: { channel in
                if let bound = channel.localAddress { onBound(bound) }
            },
            eventLoopGroupProvider: .shared(eventLoopGroup),
            logger: logger
        )
    }
}
