import NIOCore
import NIOPosix

/// TCP ports of 127.0.0.1.
enum FreePort {
    /// A port that nobody uses at the moment, for a program that has to be told one.
    static func choose() async throws -> Int {
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "127.0.0.1", port: 0).get()
        let port = channel.localAddress?.port
        try await channel.close()
        guard let port else { throw ServingBinaryError.unexpectedAnswer("a listener without a port") }
        return port
    }

    /// Whether somebody accepts connections there.
    static func isOpen(_ port: Int) async -> Bool {
        let connection = try? await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: port).get()
        try? await connection?.close()
        return connection != nil
    }
}

/// A listener that only holds its port.
struct PortHolder: Sendable {
    let port: Int
    private let channel: any Channel

    static func open() async throws -> PortHolder {
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "127.0.0.1", port: 0).get()
        guard let port = channel.localAddress?.port else {
            throw ServingBinaryError.unexpectedAnswer("a listener without a port")
        }
        return PortHolder(port: port, channel: channel)
    }

    func close() async throws {
        try await channel.close()
    }
}
