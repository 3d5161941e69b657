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
        router: Router<ManagementContext>,
        connections: ManagementConnections,
        eventLoopGroup: any EventLoopGroup,
        logger: Logger,
        onBound: @escaping @Sendable (SocketAddress) -> Void
    ) -> some ApplicationProtocol {
        Application(
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
                if let bound = channel.localAddress { onBound(bound) }
            },
            eventLoopGroupProvider: .shared(eventLoopGroup),
            logger: logger
        )
    }
}

/// Runs the management listener; reports with ``ListenerError`` that it cannot be opened, and ends without waiting for clients.
///
/// Its connections have an event loop of their own, so that pages, scrapes and probes take no turn on those that answer checks.
struct ManagementService<App: ApplicationProtocol>: Service {
    let application: App
    let address: ListenAddress
    let connections: ManagementConnections
    let logger: Logger

    /// How long requests that are under way may take when the listener ends.
    private static var lastRequests: Duration { .seconds(1) }

    func run() async throws {
        do {
            try await runUntilShutdown()
        } catch let error as IOError {
            throw ListenerError(listener: "management", address: address, reason: error)
        }
    }

    /// Runs the application in a group of its own, which is shut down gracefully also when this task is cancelled: a
    /// cancelled listener would log errors that are none.
    private func runUntilShutdown() async throws {
        let group = ServiceGroup(configuration: ServiceGroupConfiguration(services: [application], logger: logger))
        let end: @Sendable () -> Void = {
            Task {
                await group.triggerGracefulShutdown()
                try? await Task.sleep(for: Self.lastRequests)
                connections.closeAll()
            }
        }
        let running = Task.detached { try await group.run() }
        try await withTaskCancellationHandler {
            try await withGracefulShutdownHandler {
                try await running.value
            } onGracefulShutdown: {
                end()
            }
        } onCancel: {
            end()
        }
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
