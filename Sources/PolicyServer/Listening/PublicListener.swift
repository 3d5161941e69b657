import CheckListener
import Logging
import NIOCore
import NIOExtras
import ServiceLifecycle
import Systemd

/// The listener that apps call, from the first attempt to load a policy until the server shuts down.
struct PublicListener: Service {
    /// Where to listen.
    let address: ListenAddress
    /// A socket that listens already and is used instead of ``address``.
    let socket: InheritedSocket?
    /// The policy that answers.
    let policy: LivePolicy
    /// How connections are answered.
    let bootstrap: CheckServerBootstrap
    /// The event loops that connections are spread over.
    let eventLoopGroup: any EventLoopGroup
    /// Where changes of state are logged.
    let logger: Logger
    /// Receives the bound address, once.
    let onBound: @Sendable (SocketAddress) -> Void

    /// Listens from the first attempt to load a policy until graceful shutdown, or until another service has failed, then
    /// finishes the requests in progress.
    func run() async throws {
        try await policy.firstLoadAttempt()
        let quiescing = ServerQuiescingHelper(group: eventLoopGroup)
        let channel = try await bind(quiescing)
        if let bound = channel.localAddress {
            logger.notice("The public listener is open", metadata: ["address": "\(bound)"])
            onBound(bound)
        }
        let drained = eventLoopGroup.any().makePromise(of: Void.self)
        await withTaskCancellationOrGracefulShutdownHandler {
            try? await channel.closeFuture.get()
        } onCancelOrGracefulShutdown: {
            quiescing.initiateShutdown(promise: drained)
        }
        try await drained.futureResult.get()
        logger.notice("The public listener is closed")
    }

    private func bind(_ quiescing: ServerQuiescingHelper) async throws(ListenerError) -> any Channel {
        do {
            if let socket { return try await bootstrap.bind(socket: socket.descriptor, quiescing: quiescing) }
            return try await bootstrap.bind(host: address.host, port: address.port, quiescing: quiescing)
        } catch {
            throw ListenerError(listener: "public", address: address, reason: error)
        }
    }
}
