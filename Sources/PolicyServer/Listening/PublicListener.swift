import CheckListener
import NIOCore
import NIOExtras
import Systemd

/// The listener that apps call, while it is open.
struct PublicListener: Sendable {
    let channel: any Channel
    private let quiescing: ServerQuiescingHelper
    private let eventLoopGroup: any EventLoopGroup

    /// Opens the listener.
    static func open(
        at address: ListenAddress,
        socket: InheritedSocket?,
        _ bootstrap: CheckServerBootstrap,
        _ eventLoopGroup: any EventLoopGroup
    ) async throws(ListenerError) -> PublicListener {
        let quiescing = ServerQuiescingHelper(group: eventLoopGroup)
        do {
            let channel =
                if let socket {
                    try await bootstrap.bind(socket: socket.descriptor, quiescing: quiescing)
                } else {
                    try await bootstrap.bind(host: address.host, port: address.port, quiescing: quiescing)
                }
            return PublicListener(channel: channel, quiescing: quiescing, eventLoopGroup: eventLoopGroup)
        } catch {
            throw ListenerError(listener: "public", address: address, reason: error)
        }
    }

    /// Takes no more connections, and finishes the requests in progress.
    func close() async throws {
        let drained = eventLoopGroup.any().makePromise(of: Void.self)
        quiescing.initiateShutdown(promise: drained)
        try await drained.futureResult.get()
    }
}
