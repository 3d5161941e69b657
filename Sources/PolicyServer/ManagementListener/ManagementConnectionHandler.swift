// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import NIOCore
import NIOHTTPTypes

/// Reports the events of a connection to ``ManagementConnections``, and closes it if its first request does not come in time.
///
/// Hummingbird closes those that are silent after a request.
final class ManagementConnectionHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let connections: ManagementConnections
    private let headTimeout: TimeAmount
    private var deadline: Scheduled<Void>?

    /// - Parameters:
    ///   - connections: The connections of the listener.
    ///   - headTimeout: How long the head of the first request may take.
    init(_ connections: ManagementConnections, headTimeout: TimeAmount) {
        self.connections = connections
        self.headTimeout = headTimeout
    }

    func handlerAdded(context: ChannelHandlerContext) {
        connections.add(context.channel)
        deadline = context.eventLoop.assumeIsolated().scheduleTask(in: headTimeout) { context.close(promise: nil) }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        deadline?.cancel()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .head = unwrapInboundIn(data) {
            deadline?.cancel()
            connections.note(context.channel, isIdle: false)
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .end = unwrapOutboundIn(data) { connections.note(context.channel, isIdle: true) }
        context.write(data, promise: promise)
    }
}
