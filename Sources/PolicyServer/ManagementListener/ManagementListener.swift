// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import UpdatePolicy

/// The listener for operators: liveness, readiness, metrics and the loaded policy.
///
/// It has no authentication; it belongs on loopback or a private network.
enum ManagementListener {
    /// How long the head of the first request may take.
    private static let headTimeout = TimeAmount.seconds(5)

    /// How long a connection may be idle: longer than the interval between two scrapes.
    private static let idleTimeout = TimeAmount.seconds(75)

    /// How many connections may wait in the kernel until the listener accepts them.
    private static let backlog = 1024

    /// Builds the listener as an ordinary Hummingbird application.
    ///
    /// - Parameters:
    ///   - names: The names that it may be asked by, besides addresses, `localhost` and the host of `address`.
    ///   - connections: Gets its connections.
    static func application(
        address: ListenAddress,
        names: [String],
        connections: ManagementConnections,
        policy: LivePolicy,
        state: ServingState,
        counting: CheckCounting?,
        metrics: ServerMetrics,
        eventLoopGroup: any EventLoopGroup,
        clock: @escaping @Sendable () -> Timestamp,
        logger: Logger,
        onBound: @escaping @Sendable (SocketAddress) -> Void
    ) -> some ApplicationProtocol {
        let router = Router(options: .autoGenerateHeadEndpoints)
        router.middlewares.add(HostCheck(names: names + [address.host]))
        router.get("live") { _, _ in
            ManagementResponse(status: .ok, body: LiveDocument())
        }
        router.get("ready") { _, _ in
            let document = ReadyDocument(policy: policy, state: state, now: clock())
            return ManagementResponse(status: document.ready ? .ok : .serviceUnavailable, body: document)
        }
        router.get("policy") { _, _ in
            ManagementResponse(status: .ok, body: LoadedPolicyDocument(policy.current, counting?.status))
        }
        router.get("metrics") { request, _ in
            let format = MetricsText.Format(accept: request.headers[.accept])
            return Response(
                status: .ok,
                headers: [.contentType: format.mediaType, .cacheControl: "no-store"],
                body: ResponseBody(byteBuffer: ByteBuffer(string: metrics.document(format)))
            )
        }
        for path in ["live", "ready", "policy", "metrics"] {
            for method in [HTTPRequest.Method.post, .put, .patch, .delete, .options] {
                router.on(RouterPath(path), method: method) { _, _ in
                    Response(status: .methodNotAllowed, headers: [.allow: "GET, HEAD"])
                }
            }
        }
        return Application(
            router: router,
            server: .http1(
                configuration: .init(
                    additionalChannelHandlers: [
                        ManagementConnectionHandler(connections, headTimeout: headTimeout)
                    ],
                    idleTimeout: idleTimeout
                )
            ),
            configuration: ApplicationConfiguration(
                address: .hostname(address.host, port: address.port),
                backlog: backlog,
                availableConnectionsDelegate: .maximum(ManagementConnections.maximum, logger: logger)
            ),
            onServerRunning: { channel in
                if let bound = channel.localAddress { onBound(bound) }
            },
            eventLoopGroupProvider: .shared(eventLoopGroup),
            logger: logger
        )
    }
}
