import Glibc
import NIOCore
import NIOPosix
import NIOSSL

/// Where the responses of one connection go: straight to its socket, or through its channel.
///
/// The channel keeps each write in a list until the socket has taken it. A response that the socket takes at once needs
/// none of that, which is a quarter of the instructions of a check. What the socket does not take at once goes to the
/// channel, and so does everything after it, so that nothing overtakes and back pressure works as in every channel.
final class ConnectionOutput {
    /// How many bytes of unread responses suspend the reading of further requests: the high water mark of swift-nio.
    static let maximumUnreadBytes = 65_536

    private let connections: OpenConnections
    /// Whether TLS stands between the handler and the socket.
    private let isEncrypted: Bool
    private var context: ChannelHandlerContext?
    /// nil: responses go through the channel.
    private var socket: NIOBSDSocket.Handle?
    private var isAbandoned = false
    private var callback: (() -> Void)?
    /// How many of the bytes that the channel keeps ``OpenConnections`` knows of.
    private var reportedBytes = 0

    /// How many bytes of responses the channel keeps until the client reads.
    private(set) var unreadBytes = 0

    /// - Parameter connections: Bounds what all of them keep.
    init(_ connections: OpenConnections, isEncrypted: Bool) {
        (self.connections, self.isEncrypted) = (connections, isEncrypted)
    }

    /// The connection is open.
    func open(_ context: ChannelHandlerContext) {
        self.context = context
        guard !isEncrypted, let channel = context.channel as? any NIOTransportAccessibleChannelCore else { return }
        socket = Self.socket(of: channel)
    }

    /// The socket of a channel.
    ///
    /// `withUnsafeTransportIfAvailable` of the pipeline finds it in the same way, but names the type of the socket in its
    /// cast: the runtime does not remember the outcome of such a cast, which costs as much as a whole check.
    private static func socket(of channel: some NIOTransportAccessibleChannelCore) -> NIOBSDSocket.Handle? {
        try? channel.withUnsafeTransport { $0 as? NIOBSDSocket.Handle }
    }

    /// Whether responses go straight to the socket.
    var isDirect: Bool { socket != nil }

    /// The socket is closed, whose number the system may give to another connection: nothing is sent any more.
    func closeSocket() {
        socket = nil
    }

    /// The connection is gone.
    func close() {
        socket = nil
        context = nil
        callback = nil
    }

    /// Sends as many bytes to the socket as it takes.
    ///
    /// - Returns: What is to be sent through the channel instead; nil when the socket has taken all.
    func send(_ bytes: UnsafeRawBufferPointer) -> ByteBuffer? {
        guard context != nil else { return nil }
        guard let socket else { return ByteBuffer(bytes: bytes) }
        let sent = Self.send(bytes, to: socket)
        if sent == bytes.count { return nil }
        self.socket = nil
        return ByteBuffer(bytes: UnsafeRawBufferPointer(rebasing: bytes[sent...]))
    }

    /// How many of the bytes the socket has taken; the channel finds out why it did not take more.
    private static func send(_ bytes: UnsafeRawBufferPointer, to socket: NIOBSDSocket.Handle) -> Int {
        while true {
            let sent = Glibc.send(socket, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
            if sent >= 0 { return sent }
            if errno != EINTR { return 0 }
        }
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
        if change != 0 { connections.addUnread(change) }
    }
}
