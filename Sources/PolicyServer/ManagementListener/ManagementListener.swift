import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import ServiceLifecycle
import Synchronization

/// The listener for operators: liveness, readiness, metrics, the loaded policy, the descriptions of both listeners, and the
/// pages for people.
///
/// Only the pages can ask for a password; it belongs on loopback or a private network.
///
/// Its connections have an event loop of their own, so that pages, scrapes and probes take no turn on those that answer checks.
struct ManagementListener: Sendable {
    /// The time that a connection may be idle: longer than the interval between two scrapes.
    private static let idleTimeout = TimeAmount.seconds(75)

    /// The most connections that wait in the kernel until the listener accepts them.
    private static let backlog = 1024

    /// How long requests that are under way may take when the listener ends.
    private static let lastRequests: Duration = .seconds(1)

    /// Where it listens.
    let bound: SocketAddress
    private let connections: ManagementConnections
    private let group: ServiceGroup
    private let running: Task<Void, Never>

    /// Opens the listener.
    ///
    /// - Parameter onFailure: Receives the error if it ends by itself.
    static func open(
        at address: ListenAddress,
        _ router: Router<ManagementContext>,
        eventLoopGroup: any EventLoopGroup,
        logger: Logger,
        onFailure: @escaping @Sendable (any Error) -> Void
    ) async throws -> ManagementListener {
        let connections = ManagementConnections()
        let (addresses, onBound) = AsyncThrowingStream.makeStream(of: SocketAddress.self)
        let application = Application(
            router: router,
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
                if let bound = channel.localAddress { onBound.yield(bound) }
            },
            eventLoopGroupProvider: .shared(eventLoopGroup),
            logger: logger
        )
        let group = ServiceGroup(configuration: ServiceGroupConfiguration(services: [application], logger: logger))
        let running = Task {
            do {
                try await group.run()
                onBound.finish()
            } catch {
                var fault = error
                if error is IOError || error is SocketAddressError || error is SocketAddressError.UnknownHost {
                    fault = ListenerError(listener: "management", address: address, reason: error)
                }
                onBound.finish(throwing: fault)
                onFailure(fault)
            }
        }
        for try await bound in addresses {
            return ManagementListener(bound: bound, connections: connections, group: group, running: running)
        }
        throw CancellationError()
    }

    /// Ends without waiting for clients.
    func close() async {
        await group.triggerGracefulShutdown()
        let end = Task {
            try await Task.sleep(for: Self.lastRequests)
            connections.closeAll()
        }
        await running.value
        end.cancel()
    }
}

/// The connections of the management listener. One too many closes the oldest, so that no number of silent or slow
/// clients keeps a health check out.
final class ManagementConnections: Sendable {
    /// The most connections at once.
    static let maximum = 64

    private let channels = Mutex<[any Channel]>([])

    /// Adds a connection until it is closed.
    func add(_ channel: any Channel) {
        let oldest = channels.withLock { channels in
            channels.append(channel)
            return channels.count > Self.maximum ? channels.removeFirst() : nil
        }
        oldest?.close(promise: nil)
        channel.closeFuture.whenComplete { [self] _ in
            channels.withLock { $0.removeAll { $0 === channel } }
        }
    }

    /// Closes all connections, whatever is under way on them.
    func closeAll() {
        for channel in channels.withLock({ $0 }) { channel.close(promise: nil) }
    }
}

/// Adds a connection to ``ManagementConnections``, and closes it if the head of its first request does not come in time.
///
/// Hummingbird closes those that are silent after a request.
final class ManagementConnectionHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = Any

    private static let headTimeout = TimeAmount.seconds(5)

    private let connections: ManagementConnections
    private var deadline: Scheduled<Void>?

    init(_ connections: ManagementConnections) {
        self.connections = connections
    }

    func handlerAdded(context: ChannelHandlerContext) {
        connections.add(context.channel)
        deadline = context.eventLoop.assumeIsolated().scheduleTask(in: Self.headTimeout) {
            context.close(promise: nil)
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        deadline?.cancel()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        deadline?.cancel()
        context.fireChannelRead(data)
    }
}
