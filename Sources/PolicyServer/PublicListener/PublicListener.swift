// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

public import Logging
public import NIOCore
import NIOExtras
import NIOPosix
import NIOSSL
public import ServiceLifecycle
public import ServiceManager
public import UpdatePolicy

/// The listener that apps call: HTTP/1.1 on plain swift-nio, one event loop a core.
public struct PublicListener: Service {
    private let address: ListenAddress
    private let policy: LivePolicy
    private let eventLoopGroup: any EventLoopGroup
    private let clock: @Sendable () -> Timestamp
    private let counting: CheckCounting?
    private let configuration: PublicListenerConfiguration
    private let statistics: PublicListenerStatistics
    private let tls: TLSContext?
    private let socket: InheritedSocket?
    private let onBound: @Sendable (SocketAddress) -> Void
    private let logger: Logger

    /// Creates the listener; it binds when it runs.
    ///
    /// - Parameters:
    ///   - address: Where to listen.
    ///   - policy: What answers.
    ///   - eventLoopGroup: The event loops that connections are spread over.
    ///   - clock: The time of a check.
    ///   - counting: What counts the checks; nil: they are not counted.
    ///   - logger: Where changes of state are logged.
    ///   - configuration: Limits, and who is trusted.
    ///   - statistics: What counts refusals and connections.
    ///   - tls: What connections are encrypted with; nil for plain HTTP.
    ///   - socket: A socket that is listening already and takes the place of `address`.
    ///   - onBound: Told the address in use, once.
    public init(
        address: ListenAddress,
        policy: LivePolicy,
        eventLoopGroup: any EventLoopGroup,
        clock: @escaping @Sendable () -> Timestamp,
        counting: CheckCounting? = nil,
        logger: Logger,
        configuration: PublicListenerConfiguration = PublicListenerConfiguration(),
        statistics: PublicListenerStatistics = PublicListenerStatistics(),
        tls: TLSContext? = nil,
        socket: InheritedSocket? = nil,
        onBound: @escaping @Sendable (SocketAddress) -> Void
    ) {
        self.address = address
        self.policy = policy
        self.eventLoopGroup = eventLoopGroup
        self.clock = clock
        self.counting = counting
        self.logger = logger
        self.configuration = configuration
        self.statistics = statistics
        self.tls = tls
        self.socket = socket
        self.onBound = onBound
    }

    /// Listens from the first attempt to load a policy until graceful shutdown, then answers what is under way.
    public func run() async throws {
        try await policy.firstLoadAttempt()
        let quiescing = ServerQuiescingHelper(group: eventLoopGroup)
        let channel = try await bind(quiescing: quiescing)
        if let bound = channel.localAddress {
            logger.notice("The public listener is open", metadata: ["address": "\(bound)"])
            onBound(bound)
        }
        let drained = eventLoopGroup.any().makePromise(of: Void.self)
        await withGracefulShutdownHandler {
            try? await channel.closeFuture.get()
        } onGracefulShutdown: {
            quiescing.initiateShutdown(promise: drained)
        }
        try await drained.futureResult.get()
        logger.notice("The public listener is closed")
    }

    /// The size of a connection's receive buffer in bytes; Linux makes it twice as large for its own needs.
    private static let receiveBufferBytes: ChannelOptions.Types.SocketOption.Value = 65_536

    private func bind(quiescing: ServerQuiescingHelper) async throws -> any Channel {
        let limits = configuration.limits
        let limiter = configuration.rateLimit.map { RateLimiter($0, proxies: configuration.trustedProxies) }
        let loops = LoopTable(eventLoopGroup) { [statistics, clock] eventLoop in
            LoopConnections(
                eventLoop: eventLoop,
                limits: limits,
                statistics: statistics.makeLoopStatistics(),
                clock: clock
            )
        }
        let admission = ConnectionAdmission(
            limits: limits,
            proxies: configuration.trustedProxies,
            statistics: statistics,
            loops: loops,
            eventLoops: Array(eventLoopGroup.makeIterator())
        )
        let bootstrap = ServerBootstrap(group: eventLoopGroup)
            .serverChannelOption(.backlog, value: 4096)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            // Connections inherit it. What is in there when a client goes away is read at once.
            .serverChannelOption(.socketOption(.so_rcvbuf), value: Self.receiveBufferBytes)
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandler(AdmissionHandler(admission))
                    try pipeline.addHandler(quiescing.makeServerChannelHandler(channel: channel))
                }
            }
            .childChannelInitializer { [policy, counting, tls] channel in
                channel.eventLoop.makeCompletedFuture {
                    let handler = PublicRequestHandler(
                        policy: policy,
                        recorder: counting?.recorder(of: channel.eventLoop),
                        limits: limits,
                        connections: loops[channel.eventLoop],
                        limitedClient: limiter.flatMap { limiter in
                            IPAddress(channel.remoteAddress).map { LimitedClient(peer: $0, limiter: limiter) }
                        }
                    )
                    handler.block = admission.limitedBlock(of: channel)
                    let pipeline = channel.pipeline.syncOperations
                    if let tls {
                        try pipeline.addHandler(NIOSSLServerHandler(context: tls.current))
                    }
                    try pipeline.addHandler(
                        ByteToMessageHandler(PublicRequestDecoder(limits: limits, handler: handler))
                    )
                    try pipeline.addHandler(handler)
                }
            }
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            // One client that sends without a pause does not keep the others of its event loop waiting.
            .childChannelOption(.maxMessagesPerRead, value: 1)
            .childChannelOption(
                .recvAllocator,
                value: AdaptiveRecvByteBufferAllocator(minimum: 512, initial: 2_048, maximum: 16_384)
            )
            .childChannelOption(
                .writeBufferWaterMark,
                value: ChannelOptions.Types.WriteBufferWaterMark(
                    low: limits.bufferedBytes / 2,
                    high: limits.bufferedBytes
                )
            )
        do {
            if let socket { return try await bootstrap.withBoundSocket(socket.descriptor).get() }
            return try await bootstrap.bind(host: address.host, port: address.port).get()
        } catch {
            throw ListenerError(listener: "public", address: address, reason: error)
        }
    }
}
