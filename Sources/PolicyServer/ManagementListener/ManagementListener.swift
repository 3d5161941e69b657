// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import PolicyPages
import UpdatePolicy

/// What the management listener serves, by path.
enum ManagementRoute: String, CaseIterable {
    case live
    case ready
    case policy
    case metrics
    case openAPI = "openapi.yaml"
    case openAPIServer = "openapi-server.yaml"

    /// The path, for a router.
    var path: RouterPath { RouterPath(rawValue) }
}

/// Answers HEAD as GET, without the body, whoever makes the answer.
private struct HeadCheck<Context: RequestContext>: RouterMiddleware {
    func handle(
        _ request: Request,
        context: Context,
        next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        let response = try await next(request, context)
        return request.method == .head ? response.createHeadResponse() : response
    }
}

/// Tells a client that asks by another method which ones a path has; to the router such a path is not there.
private struct MethodCheck<Context: RequestContext>: RouterMiddleware {
    func handle(
        _ request: Request,
        context: Context,
        next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        let names = request.uri.path.split(separator: "/")
        guard request.method != .get, request.method != .head, names.count == 1,
            ManagementRoute(rawValue: String(names[0])) != nil
        else { return try await next(request, context) }
        return Response(status: .methodNotAllowed, headers: [.allow: "GET, HEAD"])
    }
}

/// The listener for operators: liveness, readiness, metrics, the loaded policy, the descriptions of both listeners, and the
/// pages for people.
///
/// Only the pages can ask for a password; it belongs on loopback or a private network.
enum ManagementListener {
    /// How long the head of the first request may take.
    private static let headTimeout = TimeAmount.seconds(5)

    /// How long a connection may be idle: longer than the interval between two scrapes.
    private static let idleTimeout = TimeAmount.seconds(75)

    /// The descriptions of both listeners in OpenAPI, the only files that this module embeds, by name.
    private static let descriptions = Dictionary(uniqueKeysWithValues: embeddedFiles.map { ($0.name, $0.text) })

    /// How many connections may wait in the kernel until the listener accepts them.
    private static let backlog = 1024

    /// Builds the listener as an ordinary Hummingbird application.
    ///
    /// - Parameters:
    ///   - names: The names that it may be asked by, besides addresses, `localhost` and the host of `address`.
    ///   - connections: Gets its connections.
    ///   - pages: What it serves at every other path.
    ///   - access: Who may see them.
    ///   - tls: The certificate of the public listener; nil: it has none.
    static func application(
        address: ListenAddress,
        names: [String],
        connections: ManagementConnections,
        pages: PolicyPages,
        access: PageAccess,
        policy: LivePolicy,
        tls: ReloadedCertificate?,
        state: ServingState,
        counting: CheckCounting?,
        metrics: ServerMetrics,
        eventLoopGroup: any EventLoopGroup,
        clock: @escaping @Sendable () -> Timestamp,
        logger: Logger,
        onBound: @escaping @Sendable (SocketAddress) -> Void
    ) -> some ApplicationProtocol {
        let router = Router(context: ManagementContext.self, options: .autoGenerateHeadEndpoints)
        router.middlewares.add(HeadCheck())
        router.middlewares.add(HostCheck(names: names + [address.host]))
        router.middlewares.add(MethodCheck())
        router.middlewares.add(PagesMiddleware(pages: pages, access: access))
        for route in ManagementRoute.allCases {
            router.get(route.path) { request, _ -> Response in
                switch route {
                case .live:
                    return try .document(LiveDocument())
                case .ready:
                    let document = ReadyDocument(policy: policy, tls: tls, state: state, now: clock())
                    return try .document(document, status: document.ready ? .ok : .serviceUnavailable)
                case .policy:
                    return try .document(LoadedPolicyDocument(policy.current, counting?.status))
                case .metrics:
                    let format = MetricsText.Format(accept: request.headers[.accept])
                    // What all rules are now may take a while to work out.
                    let document = try await LowPriorityThread.run { metrics.document(format) }
                    return .document(document, contentType: format.mediaType)
                case .openAPI, .openAPIServer:
                    return .document(descriptions[route.rawValue]!, contentType: "application/yaml")
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
