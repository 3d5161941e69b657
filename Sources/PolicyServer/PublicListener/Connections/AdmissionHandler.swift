// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import NIOCore

/// Stands in the pipeline of the listening socket, before the handlers that start a connection.
final class AdmissionHandler: ChannelInboundHandler {
    typealias InboundIn = any Channel

    private let admission: ConnectionAdmission

    init(_ admission: ConnectionAdmission) {
        self.admission = admission
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let connection = unwrapInboundIn(data)
        if admission.admits(connection) {
            context.fireChannelRead(data)
        } else {
            connection.close(promise: nil)
        }
    }
}
