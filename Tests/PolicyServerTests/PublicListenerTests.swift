import CheckListener
import NIOCore
import NIOPosix
import TestChecks
import Testing
import UpdatePolicy

@testable import PolicyServer

@Suite("Public listener", .timeLimit(.minutes(5)))
struct PublicListenerTests {
    @Test("A listener that closes waits for no client that says nothing, and takes no more")
    func closes() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let policy = LivePolicy()
        policy.replace(with: try ExamplePolicy.policy(), at: Timestamp(microsecondsSince1970: 0))
        let listener = try await PublicListener.open(
            at: ListenAddress(host: "127.0.0.1", port: 0), socket: nil,
            CheckServerBootstrap(
                policy: policy.answering, eventLoopGroup: group, clock: { Timestamp(microsecondsSince1970: 0) }
            ), group
        )
        let address = try #require(listener.channel.localAddress)
        let client = try await ClientBootstrap(group: group).connect(to: address).get()
        try await listener.close()
        try? await client.closeFuture.get()
        await #expect(throws: (any Error).self) { try await ClientBootstrap(group: group).connect(to: address).get() }
        try await group.shutdownGracefully()
    }
}
