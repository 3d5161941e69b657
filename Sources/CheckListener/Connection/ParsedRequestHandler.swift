// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import NIOCore
import NIOHTTP1

/// Stands behind the parser of a connection, and passes on to its ``ConnectionHandler`` what the parser makes of the bytes.
final class ParsedRequestHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart

    private let connection: ConnectionHandler

    init(_ connection: ConnectionHandler) {
        self.connection = connection
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        connection.didParse(unwrapInboundIn(data))
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        connection.failed(error)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed = event {
            connection.inputClosed()
        } else {
            context.fireUserInboundEventTriggered(event)
        }
    }
}
