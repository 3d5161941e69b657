import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import Testing
import UpdatePolicy

@testable import CheckListener

@Suite("The output of a connection, over a real socket")
struct ConnectionOutputTests {
    private static let request = ListenerFixture.post(ListenerFixture.payload2013)

    /// Whether the last connection sends straight to its socket; nil before there is one.
    private struct Observer: Sendable {
        let handler = NIOLockedValueBox<NIOLoopBound<ConnectionHandler>?>(nil)
        let eventLoop = MultiThreadedEventLoopGroup.singleton.next()

        func isDirect() async throws -> Bool? {
            try await eventLoop.submit { handler.withLockedValue { $0?.value.output.isDirect } }.get()
        }
    }

    /// Runs a server of one event loop while `body` has a connection to it.
    private static func connect(
        isEncrypted: Bool = false,
        limits: ConnectionLimits = ListenerFixture.limits,
        _ body: @escaping @Sendable (inout RawConnection, Observer) async throws -> Void
    ) async throws {
        let observer = Observer()
        let policy = CurrentPolicy(try ListenerFixture.policy())
        let channel = try await ServerBootstrap(group: observer.eventLoop)
            .serverChannelOption(.socketOption(.so_sndbuf), value: 4_096)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let context = EventLoopContext(testing: channel.eventLoop, policy: policy, limits: limits)
                    let handler = ConnectionHandler(loop: context, limitedClient: nil, isEncrypted: isEncrypted)
                    observer.handler.withLockedValue { $0 = NIOLoopBound(handler, eventLoop: channel.eventLoop) }
                    try channel.pipeline.syncOperations.addHandler(handler)
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let address = try #require(channel.localAddress)
        try await RawConnection.with(address) { try await body(&$0, observer) }
        try await channel.close()
    }

    @Test("Responses go straight to the socket, the first one too")
    func takesTheSocket() async throws {
        try await Self.connect { connection, observer in
            for _ in 1...4 {
                try await connection.send(Self.request)
                #expect(try await connection.response()?.body == ListenerFixture.answer)
                #expect(try await observer.isDirect() == true)
            }
        }
    }

    @Test("Nothing goes past TLS")
    func staysBehindTLS() async throws {
        try await Self.connect(isEncrypted: true) { connection, observer in
            for _ in 1...4 {
                try await connection.send(Self.request)
                #expect(try await connection.response()?.body == ListenerFixture.answer)
                #expect(try await observer.isDirect() == false)
            }
        }
    }

    @Test("What the socket does not take goes through the channel, in order and whole, and so does everything after it")
    func fallsBackToTheChannel() async throws {
        try await Self.connect { connection, observer in
            try await connection.send(Self.request)
            #expect(try await connection.response() != nil)
            #expect(try await observer.isDirect() == true)
            // More responses than both buffers of the socket hold; each is a different one.
            let count = 12_000
            for start in stride(from: 0, to: count, by: 1_000) {
                let requests = (start..<(start + 1_000)).map { number in
                    ListenerFixture.post(#"{"bundle":"com.example.doto","version":"1.\#(number % 4)"}"#)
                }
                try await connection.send(requests.joined())
            }
            for number in 0..<count {
                let response = try await connection.response()
                let expected = number % 4 < 2 ? ListenerFixture.answer : #"{"messages":[]}"#
                guard response?.body == expected else {
                    Issue.record("response \(number) is \(String(describing: response))")
                    return
                }
            }
            #expect(try await observer.isDirect() == false)
        }
    }
}
