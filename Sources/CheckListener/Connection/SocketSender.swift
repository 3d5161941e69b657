// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Glibc
import NIOCore
import NIOPosix

/// Sends the responses of a connection: through its channel, or straight to its socket.
///
/// The channel keeps each write in a list until the socket has taken it. A response that the socket takes at once needs
/// none of that, which is a quarter of the instructions of a check. What the socket does not take at once goes to the
/// channel, and so does everything after it, so that nothing overtakes and back pressure works as in every channel.
///
/// The first response goes through the channel: to ask for the socket costs as much as a whole check, and many connections
/// have only one.
struct SocketSender {
    private enum Way {
        /// Through the channel, which has sent this many batches of responses; after the first the socket is asked for.
        case channel(responses: Int)
        /// Straight to the socket.
        case socket(NIOBSDSocket.Handle)
        /// Through the channel for good.
        case channelAlone
    }

    private var way: Way

    /// Creates the sender of a connection.
    ///
    /// - Parameter isEncrypted: Whether TLS stands between the handler and the socket: bytes must not go past it.
    init(isEncrypted: Bool) {
        way = isEncrypted ? .channelAlone : .channel(responses: 0)
    }

    /// Whether responses go straight to the socket.
    var isDirect: Bool {
        if case .socket = way { true } else { false }
    }

    /// Forgets the socket, whose number the system may give to another connection once it is closed.
    mutating func close() {
        way = .channelAlone
    }

    /// Sends as many of some bytes to the socket as it takes.
    ///
    /// - Returns: What the channel must send instead; nil when the socket has taken all.
    mutating func send(_ bytes: UnsafeRawBufferPointer, _ context: ChannelHandlerContext) -> ByteBuffer? {
        if case .channel(let responses) = way { askForSocket(after: responses, context) }
        guard case .socket(let socket) = way else { return ByteBuffer(bytes: bytes) }
        let sent = Self.send(bytes, to: socket)
        if sent == bytes.count { return nil }
        way = .channelAlone
        return ByteBuffer(bytes: UnsafeRawBufferPointer(rebasing: bytes[sent...]))
    }

    private mutating func askForSocket(after responses: Int, _ context: ChannelHandlerContext) {
        way = .channel(responses: responses + 1)
        guard responses > 0, (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) == 0 else { return }
        let socket = try? context.pipeline.syncOperations.withUnsafeTransportIfAvailable(
            of: NIOBSDSocket.Handle.self
        ) { $0 }
        way = socket.map { .socket($0) } ?? .channelAlone
    }

    /// How many of the bytes the socket has taken; the channel finds out why it did not take more.
    private static func send(_ bytes: UnsafeRawBufferPointer, to socket: NIOBSDSocket.Handle) -> Int {
        while true {
            let sent = Glibc.send(socket, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
            if sent >= 0 { return sent }
            if errno != EINTR { return 0 }
        }
    }
}
