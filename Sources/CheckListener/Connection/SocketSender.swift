// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Glibc
import NIOCore
import NIOPosix

/// Sends the responses of a connection: straight to its socket, or through its channel.
///
/// The channel keeps each write in a list until the socket has taken it. A response that the socket takes at once needs
/// none of that, which is a quarter of the instructions of a check. What the socket does not take at once goes to the
/// channel, and so does everything after it, so that nothing overtakes and back pressure works as in every channel.
struct SocketSender {
    /// nil: responses go through the channel.
    private var socket: NIOBSDSocket.Handle?

    /// Creates the sender of a connection whose responses go through the channel.
    init() {}

    /// Creates the sender of a connection, nothing of which may stand between the handler and the socket.
    init(_ context: ChannelHandlerContext) {
        if let channel = context.channel as? any NIOTransportAccessibleChannelCore { socket = Self.socket(of: channel) }
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

    /// Forgets the socket, whose number the system may give to another connection once it is closed.
    mutating func close() {
        socket = nil
    }

    /// Sends as many of some bytes to the socket as it takes.
    ///
    /// - Returns: What the channel must send instead; nil when the socket has taken all.
    mutating func send(_ bytes: UnsafeRawBufferPointer) -> ByteBuffer? {
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
}
