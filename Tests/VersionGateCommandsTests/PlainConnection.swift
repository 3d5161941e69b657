import Foundation
import NIOCore
import NIOPosix

/// TCP connections of a test to the public listener of a ``ServingBinary``.
enum PlainConnection {
    /// The address that a URL names by numbers.
    static func address(_ url: String) throws -> SocketAddress {
        guard let components = URLComponents(string: url), let host = components.host, let port = components.port else {
            throw ServingBinaryError.unexpectedAnswer(url)
        }
        return try SocketAddress(ipAddress: host, port: port)
    }

    /// Connects, and says nothing.
    static func open(_ url: String) async throws -> any Channel {
        try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton).connect(to: try address(url)).get()
    }

    /// Sends some text on a new connection, and waits until the server ends it.
    static func isEnded(_ url: String, after text: String) async throws -> Bool {
        let channel = try await open(url)
        // A server that has ended it already takes no text.
        try? await channel.writeAndFlush(ByteBuffer(string: text))
        try? await channel.closeFuture.get()
        return !channel.isActive
    }

    /// Sends some text on a new connection, and gives all that comes until the server ends it.
    static func answer(_ url: String, to text: String) async throws -> String {
        let (parts, continuation) = AsyncStream.makeStream(of: String.self)
        continuation.yield(text)
        continuation.finish()
        return try await answer(url, to: parts)
    }

    /// Sends texts on a new connection as they come, and gives all that comes until the server ends it.
    static func answer(_ url: String, to parts: AsyncStream<String>) async throws -> String {
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(to: try address(url)) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        return try await channel.executeThenClose { inbound, outbound in
            for await part in parts { try await outbound.write(ByteBuffer(string: part)) }
            var answer = ""
            for try await part in inbound { answer += String(buffer: part) }
            return answer
        }
    }
}
