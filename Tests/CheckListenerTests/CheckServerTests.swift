import NIOCore
import NIOPosix
import Testing
import UpdatePolicy

@testable import CheckListener

@Suite("Check server", .timeLimit(.minutes(5)))
struct CheckServerTests {
    @Test("A server whose socket has failed closes: it waits for no client that says nothing, on any event loop")
    func closes() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)
        let statistics = ListenerStatistics()
        var bootstrap = CheckServerBootstrap(
            policy: CurrentPolicy(try ListenerFixture.policy()), eventLoopGroup: group,
            clock: { Timestamp(microsecondsSince1970: 0) }
        )
        bootstrap.statistics = statistics
        let server = try await bootstrap.open { $0.bind(host: "127.0.0.1", port: 0) }
        let address = try #require(server.channel.localAddress)
        var clients: [any Channel] = []
        for _ in 0..<4 { clients.append(try await ClientBootstrap(group: group).connect(to: address).get()) }
        try await server.channel.close()
        try await server.close()
        #expect(statistics.openConnections == 0)
        for client in clients { try? await client.closeFuture.get() }
        await #expect(throws: (any Error).self) { try await ClientBootstrap(group: group).connect(to: address).get() }
        try await group.shutdownGracefully()
    }
}
