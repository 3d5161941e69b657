import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import TestChecks
import TestPolicies
import UpdatePolicy

@testable import CheckListener

/// A listener on a port that the system picks, with a policy that needs no database.
enum ListenerFixture {
    static let payload2013 = ExamplePolicy.payload2013
    static let answer = ExamplePolicy.answer

    /// A check that is answered with ``answer``.
    static let get = "GET /v1/check?bundle=com.example.doto&version=1.1 HTTP/1.1\r\nHost: x\r\n\r\n"

    /// A POST of a JSON body.
    static func post(_ body: String, to path: String = "/v1/check", headers: String = "") -> String {
        "POST \(path) HTTP/1.1\r\nHost: localhost\r\n\(headers)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    static func policy(revision: Int64 = 7) throws -> CompiledPolicy { try ExamplePolicy.policy(revision: revision) }

    /// The default limits, but for time: a test that waits for a processor must not look like a slow client.
    static var limits: ConnectionLimits {
        var limits = ConnectionLimits()
        limits.headerTimeout = .seconds(600)
        limits.bodyTimeout = .seconds(600)
        limits.idleTimeout = .seconds(600)
        limits.unreadTimeout = .seconds(600)
        limits.documentTimeout = .seconds(600)
        return limits
    }

    /// ``limits``, changed.
    static func limits(_ change: (inout ConnectionLimits) -> Void) -> ConnectionLimits {
        var limits = limits
        change(&limits)
        return limits
    }

    /// Runs a listener while `body` runs, then shuts it down gracefully.
    ///
    /// - Parameter policy: Without one, ``policy(revision:)``.
    static func run<Result: Sendable>(
        policy: CurrentPolicy? = nil,
        limits: ConnectionLimits = limits,
        rateLimit: RateLimit? = nil,
        trustedProxies: TrustedProxies = TrustedProxies(),
        statistics: ListenerStatistics = ListenerStatistics(),
        longWork: LongWork? = nil,
        _ body: @Sendable @escaping (SocketAddress) async throws -> Result
    ) async throws -> Result {
        var bootstrap = CheckServerBootstrap(
            policy: try policy ?? CurrentPolicy(Self.policy()), eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
            clock: { TestPolicy.noon }
        )
        bootstrap.limits = limits
        bootstrap.rateLimit = rateLimit
        bootstrap.trustedProxies = trustedProxies
        bootstrap.statistics = statistics
        if let longWork { bootstrap.runLongWork = longWork.run }
        let server = try await bootstrap.open { $0.bind(host: "127.0.0.1", port: 0) }
        let result: Swift.Result<Result, any Error>
        do {
            guard let address = server.channel.localAddress else { throw ChannelError.unknownLocalAddress }
            result = .success(try await body(address))
        } catch {
            result = .failure(error)
        }
        try await server.close()
        return try result.get()
    }
}

/// A listener of one event loop with little room in the kernel, whose last connection the test can look at.
struct ObservedListener: Sendable {
    let address: SocketAddress
    private let handler: NIOLockedValueBox<NIOLoopBound<ConnectionHandler>?>
    private let eventLoop: any EventLoop

    /// Something of the last connection; nil before there is one.
    func look<Value: Sendable>(_ value: @escaping @Sendable (ConnectionHandler) -> Value) async throws -> Value? {
        try await eventLoop.submit { handler.withLockedValue { $0.map { value($0.value) } } }.get()
    }

    /// Runs a listener while `body` runs.
    static func run(
        policy: CurrentPolicy,
        isEncrypted: Bool = false,
        _ body: (ObservedListener) async throws -> Void
    ) async throws {
        let eventLoop = MultiThreadedEventLoopGroup.singleton.next()
        let handler = NIOLockedValueBox<NIOLoopBound<ConnectionHandler>?>(nil)
        let channel = try await ServerBootstrap(group: eventLoop)
            .serverChannelOption(.socketOption(.so_sndbuf), value: 4_096)
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let context = EventLoopContext(
                        testing: channel.eventLoop, policy: policy, limits: ListenerFixture.limits
                    )
                    let connection = ConnectionHandler(loop: context, limitedClient: nil, isEncrypted: isEncrypted)
                    handler.withLockedValue { $0 = NIOLoopBound(connection, eventLoop: channel.eventLoop) }
                    try channel.pipeline.syncOperations.addHandler(connection)
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        guard let address = channel.localAddress else { throw ChannelError.unknownLocalAddress }
        try await body(ObservedListener(address: address, handler: handler, eventLoop: eventLoop))
        try await channel.close()
    }
}
