// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import NIOCore
import NIOSSL

/// Where the responses of one connection go: to its socket, and what that does not take at once to its channel.
final class ConnectionOutput {
    private let unread: UnreadResponses
    private let isEncrypted: Bool
    private var context: ChannelHandlerContext?
    private var isAbandoned = false
    private var callback: (() -> Void)?
    /// How many of the bytes that the channel keeps ``UnreadResponses`` knows of.
    private var reportedBytes = 0

    /// How the responses are sent.
    private(set) var sender = SocketSender()
    /// How many bytes of responses the channel keeps until the client reads.
    private(set) var unreadBytes = 0

    /// Creates the output of a connection that is not open yet.
    ///
    /// - Parameters:
    ///   - unread: Bounds what all connections keep.
    ///   - isEncrypted: Whether TLS stands between the handler and the socket.
    init(unread: UnreadResponses, isEncrypted: Bool) {
        self.unread = unread
        self.isEncrypted = isEncrypted
    }

    /// The connection is open.
    func open(_ context: ChannelHandlerContext) {
        self.context = context
        if !isEncrypted { sender = SocketSender(context) }
    }

    /// The socket is closed: nothing is sent any more.
    func closeSocket() {
        sender.close()
    }

    /// The connection is gone.
    func close() {
        sender.close()
        context = nil
        callback = nil
    }

    /// Sends as many bytes to the socket as it takes.
    ///
    /// - Returns: What is to be sent through the channel instead; nil when the socket has taken all.
    func send(_ bytes: UnsafeRawBufferPointer) -> ByteBuffer? {
        context == nil ? nil : sender.send(bytes)
    }

    /// Sends bytes through the channel, which may call back for more.
    func sendThroughChannel(_ bytes: ByteBuffer) {
        guard let context else { return }
        let count = bytes.readableBytes
        unreadBytes += count
        context.writeAndFlush(NIOAny(bytes)).assumeIsolated().whenComplete { [self] _ in
            unreadBytes -= count
            report()
            if unreadBytes == 0, let callback {
                self.callback = nil
                callback()
            }
        }
        report()
    }

    /// Whether all is sent.
    var isSent: Bool { unreadBytes == 0 }

    /// Calls `body` as soon as all is sent, which it is not yet.
    func whenSent(_ body: @escaping () -> Void) {
        callback = body
    }

    /// Gives up what the client leaves unread.
    func abandon() {
        isAbandoned = true
        report()
    }

    /// Closes what TLS keeps back: it would wait for the client to take leave, and keep the responses until then.
    func closeTLS() {
        try? context?.pipeline.syncOperations.context(handlerType: NIOSSLServerHandler.self).close(promise: nil)
    }

    private func report() {
        let bytes = isAbandoned ? 0 : unreadBytes
        let change = bytes - reportedBytes
        reportedBytes = bytes
        if change != 0 { unread.add(change) }
    }
}
