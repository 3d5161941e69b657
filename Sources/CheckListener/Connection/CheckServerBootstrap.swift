import Dispatch
package import NIOCore
package import NIOPosix
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
    /// The other origins whose pages may read the answers to checks and gates; nil: none.
    package var allowedOrigins: AllowedOrigins?
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

    /// Opens the socket.
    ///
    /// - Parameter bind: Binds it to an address, or takes over one that listens already.
    package func open(_ bind: (ServerBootstrap) -> EventLoopFuture<any Channel>) async throws -> CheckServer {
        let later = LaterAnswers(timeout: limits.documentTimeout, clock: clock, run: runLongWork)
        let sources = AnswerSources(
            policy: policy, documents: FeedDocuments(later: later),
            signatures: lockoutKey.map { LockoutSignatures($0) }, origins: allowedOrigins, releases: releases,
            clock: clock
        )
        let eventLoops = Array(eventLoopGroup.makeIterator())
        var share = limits
        share.unreadBytes /= eventLoops.count
        var loops: [(eventLoop: any EventLoop, context: NIOLoopBoundBox<EventLoopContext>)] = []
        for eventLoop in eventLoops {
            let context = EventLoopContext(
                eventLoop: eventLoop, sources: sources, recorder: recorders?[eventLoop], limits: share,
                statistics: statistics.makeEventLoopStatistics()
            )
            loops.append((eventLoop, .makeBoxSendingValue(context, eventLoop: eventLoop)))
        }
        let contexts = Dictionary(uniqueKeysWithValues: loops.map { (ObjectIdentifier($0.eventLoop), $0.context) })
        let admission = ConnectionAdmission(
            limits: limits, proxies: trustedProxies, statistics: statistics, eventLoopCount: eventLoops.count
        )
        let bootstrap = ServerBootstrap(group: eventLoopGroup)
            .serverChannelOption(.backlog, value: 4096)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            // Connections inherit it. What is in there when a client goes away is read at once.
            .serverChannelOption(.socketOption(.so_rcvbuf), value: Self.receiveBufferBytes)
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(AdmissionHandler(admission))
                }
            }
            .childChannelInitializer(childInitializer(contexts, admission))
        return CheckServer(channel: try await bind(bootstrap).get(), loops: loops)
    }

    /// Sets what differs from swift-nio's defaults, at once: a list of options for the bootstrap costs five times as much.
    private static func setOptions(of channel: any Channel) throws {
        guard let options = channel.syncOptions else { return }
        try options.setOption(.allowRemoteHalfClosure, value: true)
        // One client that sends without a pause does not keep the others of its event loop waiting.
        try options.setOption(.maxMessagesPerRead, value: 1)
        try options.setOption(.recvAllocator, value: receiveAllocator)
    }

    /// A connection keeps the buffer of its last read; a usual request fits into the smallest.
    private static let receiveAllocator = AdaptiveRecvByteBufferAllocator(minimum: 512, initial: 1_024, maximum: 16_384)

    private func childInitializer(
        _ contexts: [ObjectIdentifier: NIOLoopBoundBox<EventLoopContext>],
        _ admission: ConnectionAdmission
    ) -> @Sendable (any Channel) -> EventLoopFuture<Void> {
        let limiter = rateLimit.map { RateLimiter($0, proxies: trustedProxies) }
        return { [tls] channel in
            // The loop has one future that has succeeded; `makeCompletedFuture` would make one for each connection.
            do {
                guard let loop = contexts[ObjectIdentifier(channel.eventLoop)]?.value,
                    let place = admission.place(for: channel, on: loop)
                else { throw ChannelError.ioOnClosedChannel }
                let handler = ConnectionHandler(
                    loop: loop,
                    limitedClient: limiter.flatMap { limiter in
                        IPAddress(channel.remoteAddress).map { LimitedClient(peer: $0, limiter: limiter) }
                    },
                    isEncrypted: tls != nil,
                    place: place
                )
                let pipeline = channel.pipeline.syncOperations
                try pipeline.addHandler(handler)
                if let tls {
                    try pipeline.addHandler(NIOSSLServerHandler(context: tls.value.context), position: .first)
                }
                try Self.setOptions(of: channel)
                return channel.eventLoop.makeSucceededVoidFuture()
            } catch {
                return channel.eventLoop.makeFailedFuture(error)
            }
        }
    }
}

/// A socket that answers checks.
package struct CheckServer: Sendable {
    package let channel: any Channel
    fileprivate let loops: [(eventLoop: any EventLoop, context: NIOLoopBoundBox<EventLoopContext>)]

    /// Takes no more connections, and ends those that there are after the requests in progress.
    package func close() async throws {
        // A socket that has failed is closed already; its connections end all the same.
        try? await channel.close()
        // Event loops run tasks in order, so each connection that was accepted has its handler by then.
        let drains = loops.map { eventLoop, context in eventLoop.flatSubmit { context.value.connections.drain() } }
        for drained in drains { try await drained.get() }
    }
}
