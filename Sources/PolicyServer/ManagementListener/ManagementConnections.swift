// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import NIOCore
import Synchronization

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
