import CheckListener
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import TestChecks
import Testing
import UpdatePolicy

@testable import PolicyServer

@Suite("Public listener", .timeLimit(.minutes(5)))
struct PublicListenerTests {
    private struct Fault: Error {}

    /// A service that fails once something has happened.
    private struct Failing: Service {
        let occasion: Latch

        func run() async throws {
            try await occasion.wait()
            throw Fault()
        }
    }

    @Test("A service that fails once the port is open ends the listener, its connections, and the server")
    func endsWithTheOthers() async throws {
        let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let policy = LivePolicy()
        policy.replace(with: try ExamplePolicy.policy(), at: Timestamp(microsecondsSince1970: 0))
        let (bound, opened) = AsyncStream.makeStream(of: SocketAddress.self)
        let listener = PublicListener(
            address: ListenAddress(host: "127.0.0.1", port: 0),
            socket: nil,
            policy: policy,
            bootstrap: CheckServerBootstrap(
                policy: policy.answering, eventLoopGroup: group, clock: { Timestamp(microsecondsSince1970: 0) }
            ),
            eventLoopGroup: group,
            logger: logger,
            onBound: { opened.yield($0) }
        )
        let occasion = Latch()
        let services = ServiceGroup(services: [listener, Failing(occasion: occasion)], logger: logger)
        let run = Task { try await services.run() }
        var addresses = bound.makeAsyncIterator()
        let address = try #require(await addresses.next())
        // A client that says nothing does not keep the server.
        let client = try await ClientBootstrap(group: group).connect(to: address).get()
        occasion.open()
        await #expect(throws: Fault.self) { try await run.value }
        try? await client.closeFuture.get()
        await #expect(throws: (any Error).self) { try await ClientBootstrap(group: group).connect(to: address).get() }
        try await group.shutdownGracefully()
    }
}
