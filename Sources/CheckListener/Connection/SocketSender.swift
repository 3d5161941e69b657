// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Glibc
import NIOCore
import NIOPosix

/// Sends the responses of a connection: straight to its socket, or through its channel.
///
/// The channel keeps each write in a list, with a promise, until the socket has taken it. A response that the socket takes
/// at once needs none of that, which is a quarter of the instructions of a check. What the socket does not take at once
/// goes to the channel, and so does everything after it, so that nothing overtakes and back pressure works as it does in
/// every channel.
///
/// Never created with a context where TLS stands between the handler and the socket: bytes must not go past it.
struct SocketSender {
    private var socket: NIOBSDSocket.Handle?

    /// A sender that sends through the channel alone.
    init() {}

    /// Takes the socket of a channel, if the channel has one.
    init(_ context: ChannelHandlerContext) {
        socket = try? context.pipeline.syncOperations.withUnsafeTransportIfAvailable(
            of: NIOBSDSocket.Handle.self
        ) { $0 }
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
