import Dispatch
package import NIOCore
package import NIOExtras
import NIOPosix
import NIOSSL
package import UpdatePolicy

/// Binds a socket that answers checks: HTTP/1.1 on plain swift-nio, one event loop a core.
///
/// A request goes through this module and `UpdatePolicy` alone; neither can see a database.
package struct CheckServerBootstrap {
    private let policy: CurrentPolicy
    private let eventLoopGroup: any EventLoopGroup
    private let clock: @Sendable () -> Timestamp
    /// Count the checks; nil: checks are not counted.
    package var recorders: CheckRecorders?
    /// The limits on connections.
    package var limits = ConnectionLimits()
    /// The rate limit of an address; nil: none.
    package var rateLimit: RateLimit?
    /// The proxies whose `X-Forwarded-For` names the client; limits per address do not apply to them.
    package var trustedProxies = TrustedProxies()
    /// Counts connections, requests and refusals.
    package var statistics = ListenerStatistics()
    /// The TLS certificate; nil for plain HTTP.
    package var tls: CurrentTLSCertificate?
    /// Signs lockouts; nil: nothing does.
    package var lockoutKey: CurrentLockoutKey?
    /// Records the releases that pipelines send; nil: there is nothing at their path.
    package var releases: SentRelease.Recorder?
    /// Runs long work outside the event loops, one at a time.
    package var runLongWork: @Sendable (@escaping @Sendable () -> Void) -> Void = {
        DispatchQueue.global(qos: .utility).async(execute: $0)
    }

    /// The size of a connection's receive buffer in bytes; Linux makes it twice as large for its own needs.
    private static let receiveBufferBytes: ChannelOptions.Types.SocketOption.Value = 65_536

    /// Creates a bootstrap with the default limits.
    ///
    /// - Parameters:
    ///   - policy: What answers.
    ///   - eventLoopGroup: The event loops that connections are spread over.
    ///   - clock: The time of a check.
    package init(
        policy: CurrentPolicy,
        eventLoopGroup: any EventLoopGroup,
        clock: @escaping @Sendable () -> Timestamp
    ) {
        self.policy = policy
        self.eventLoopGroup = eventLoopGroup
        self.clock = clock
    }

    /// Binds to an address.
    ///
    /// - Parameter quiescing: Lets the connections end when the server shuts down.
    package func bind(host: String, port: Int, quiescing: ServerQuiescingHelper) async throws -> any Channel {
        try await bootstrap(quiescing).bind(host: host, port: port).get()
    }

    /// Takes over a socket that listens already.
    ///
    /// - Parameter quiescing: Lets the connections end when the server shuts down.
    package func bind(socket: NIOBSDSocket.Handle, quiescing: ServerQuiescingHelper) async throws -> any Channel {
        try await bootstrap(quiescing).withBoundSocket(socket).get()
    }

    private func bootstrap(_ quiescing: ServerQuiescingHelper) -> ServerBootstrap {
        let documents = FeedDocuments(
            later: LaterAnswers(timeout: limits.documentTimeout, clock: clock, run: runLongWork)
        )
        let eventLoopCount = max(1, Array(eventLoopGroup.makeIterator()).count)
        let unreadBytes = limits.bufferedBytesOfAll / eventLoopCount
        let signatures = lockoutKey.map { LockoutSignatures($0) }
        let loops = EventLoopTable(eventLoopGroup) {
            [policy, recorders, limits, statistics, releases, clock] eventLoop in
            EventLoopContext(
                eventLoop: eventLoop, policy: policy, recorder: recorders?[eventLoop], limits: limits,
                statistics: statistics.makeEventLoopStatistics(), documents: documents, unreadBytes: unreadBytes,
                signatures: signatures, releases: releases, clock: clock
            )
        }
        let admission = ConnectionAdmission(
            limits: limits, proxies: trustedProxies, statistics: statistics, eventLoopCount: eventLoopCount
        )
        return ServerBootstrap(group: eventLoopGroup)
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
            .childChannelInitializer(childInitializer(loops, admission))
    }

    /// Sets what differs from swift-nio's defaults, at once: a list of options for the bootstrap costs five times as much.
    private static func setOptions(_ limits: ConnectionLimits, of channel: any Channel) throws {
        guard let options = channel.syncOptions else { return }
        try options.setOption(.allowRemoteHalfClosure, value: true)
        // One client that sends without a pause does not keep the others of its event loop waiting.
        try options.setOption(.maxMessagesPerRead, value: 1)
        try options.setOption(.recvAllocator, value: receiveAllocator)
        if limits.bufferedBytes != Self.defaultHighWaterMark {
            let waterMark = ChannelOptions.Types.WriteBufferWaterMark(
                low: limits.bufferedBytes / 2,
                high: limits.bufferedBytes
            )
            try options.setOption(.writeBufferWaterMark, value: waterMark)
        }
    }

    private static let defaultHighWaterMark = 65_536

    /// A connection keeps the buffer of its last read; a usual request fits into the smallest.
    private static let receiveAllocator = AdaptiveRecvByteBufferAllocator(minimum: 512, initial: 1_024, maximum: 16_384)

    private func childInitializer(
        _ loops: EventLoopTable<EventLoopContext>,
        _ admission: ConnectionAdmission
    ) -> @Sendable (any Channel) -> EventLoopFuture<Void> {
        let limiter = rateLimit.map { RateLimiter($0, proxies: trustedProxies) }
        return { [limits, tls] channel in
            // The loop has one future that has succeeded; `makeCompletedFuture` would make one for each connection.
            do {
                let loop = loops[channel.eventLoop]
                guard admission.admits(channel, on: loop) else { throw ChannelError.ioOnClosedChannel }
                try Self.setOptions(limits, of: channel)
                let handler = ConnectionHandler(
                    loop: loop,
                    limitedClient: limiter.flatMap { limiter in
                        IPAddress(channel.remoteAddress).map { LimitedClient(peer: $0, limiter: limiter) }
                    },
                    isEncrypted: tls != nil
                )
                handler.admission = admission
                let pipeline = channel.pipeline.syncOperations
                if let tls {
                    try pipeline.addHandler(NIOSSLServerHandler(context: tls.value.context))
                }
                try pipeline.addHandler(handler)
                return channel.eventLoop.makeSucceededVoidFuture()
            } catch {
                return channel.eventLoop.makeFailedFuture(error)
            }
        }
    }
}
