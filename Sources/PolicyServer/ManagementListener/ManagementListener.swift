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
    /// How long a connection may say nothing, or need for the head of a request: less than the time between two scrapes, so
    /// that none is closed when its client begins to use it again.
    private static let idleTimeout = TimeAmount.seconds(5)
    /// The most connections that wait in the kernel until the listener accepts them.
    private static let backlog = 1024

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
                    additionalChannelHandlers: [ManagementConnections.Handler(connections)], idleTimeout: idleTimeout
                )
            ),
            configuration: ApplicationConfiguration(
                address: .hostname(address.host, port: address.port), backlog: backlog
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
                let isOfAddress =
                    error is IOError || error is SocketAddressError || error is SocketAddressError.UnknownHost
                let fault: any Error =
                    isOfAddress ? ListenerError(listener: "management", address: address, reason: error) : error
                onBound.finish(throwing: fault)
                onFailure(fault)
            }
        }
        for try await bound in addresses {
            return ManagementListener(bound: bound, connections: connections, group: group, running: running)
        }
        throw CancellationError()
    }

    /// Ends without waiting for clients, but for a second for requests that are under way.
    func close() async {
        await group.triggerGracefulShutdown()
        let end = Task {
            try await Task.sleep(for: .seconds(1))
            connections.closeAll()
        }
        await running.value
        end.cancel()
    }
}

/// The connections of the management listener. One too many closes the oldest, so that no number of silent or slow
/// clients keeps a health check out.
private final class ManagementConnections: Sendable {
    private static let maximum = 64

    private let channels = Mutex<[any Channel]>([])

    /// Closes all connections, whatever is under way on them.
    func closeAll() {
        for channel in channels.withLock({ $0 }) { channel.close(promise: nil) }
    }

    private func add(_ channel: any Channel) {
        let oldest = channels.withLock { channels in
            channels.append(channel)
            return channels.count > Self.maximum ? channels.removeFirst() : nil
        }
        oldest?.close(promise: nil)
        channel.closeFuture.whenComplete { [self] _ in channels.withLock { $0.removeAll { $0 === channel } } }
    }

    final class Handler: ChannelInboundHandler, RemovableChannelHandler {
        typealias InboundIn = Any

        private let connections: ManagementConnections

        init(_ connections: ManagementConnections) {
            self.connections = connections
        }

        func handlerAdded(context: ChannelHandlerContext) { connections.add(context.channel) }
    }
}
