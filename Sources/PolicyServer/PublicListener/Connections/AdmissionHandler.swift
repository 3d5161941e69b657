// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import NIOCore

/// Stands in the pipeline of the listening socket, before the handlers that start a connection.
///
/// While there are as many connections as there may be, each new one ends an idle one. Clients that open them faster than
/// requests are read could end each other's unread, and those of others. So the listener accepts only a part of its
/// connections anew in a while; the rest wait in the kernel, in the order in which they came.
final class AdmissionHandler: ChannelDuplexHandler {
    typealias InboundIn = any Channel
    typealias OutboundIn = Never

    /// How long a connection has at least to send its first request before another one may take its place.
    private static let minimumTime = TimeAmount.milliseconds(25)
    /// How long to wait for those that other event loops are about to end.
    private static let evictionTime = TimeAmount.milliseconds(1)

    private let admission: ConnectionAdmission
    private var periodEnd = NIODeadline.distantPast
    private var acceptedInPeriod = 0

    init(_ admission: ConnectionAdmission) {
        self.admission = admission
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let connection = unwrapInboundIn(data)
        acceptedInPeriod += 1
        if admission.admits(connection) {
            context.fireChannelRead(data)
        } else {
            connection.close(promise: nil)
        }
    }

    func read(context: ChannelHandlerContext) {
        if let delay = delay(now: .now()) {
            let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
            context.eventLoop.scheduleTask(in: delay) {
                let (handler, context) = bound.value
                handler.read(context: context)
            }
        } else {
            context.read()
        }
    }

    /// How long the next connections must wait until they are accepted; nil if they need not.
    private func delay(now: NIODeadline) -> TimeAmount? {
        if now >= periodEnd {
            periodEnd = now + Self.minimumTime
            acceptedInPeriod = 0
        }
        guard admission.isFull else { return nil }
        if admission.isEvicting { return Self.evictionTime }
        return acceptedInPeriod < admission.maximumInPeriod ? nil : periodEnd - now
    }
}
