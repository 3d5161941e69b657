import NIOCore
import NIOExtras
import NIOPosix
import TestChecks
import UpdatePolicy

@testable import CheckListener

/// A listener on a port that the system picks, with a policy that needs no database.
enum ListenerFixture {
    static let payload2013 = ExamplePolicy.payload2013
    static let answer = ExamplePolicy.answer

    static func policy(revision: Int64 = 7) throws -> CompiledPolicy {
        try ExamplePolicy.policy(revision: revision)
    }

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

    /// Runs a listener with `policy` while `body` runs, then shuts it down gracefully.
    static func run<Result: Sendable>(
        policy: CurrentPolicy,
        limits: ConnectionLimits = limits,
        rateLimit: RateLimit? = nil,
        trustedProxies: TrustedProxies = TrustedProxies(),
        statistics: ListenerStatistics = ListenerStatistics(),
        longWork: LongWork? = nil,
        eventLoops group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton,
        _ body: @Sendable @escaping (SocketAddress) async throws -> Result
    ) async throws -> Result {
        var bootstrap = CheckServerBootstrap(
            policy: policy, eventLoopGroup: group, clock: { Timestamp(microsecondsSince1970: 1_772_366_400_000_000) }
        )
        bootstrap.limits = limits
        bootstrap.rateLimit = rateLimit
        bootstrap.trustedProxies = trustedProxies
        bootstrap.statistics = statistics
        if let longWork { bootstrap.runLongWork = longWork.run }
        let quiescing = ServerQuiescingHelper(group: group)
        let channel = try await bootstrap.bind(host: "127.0.0.1", port: 0, quiescing: quiescing)
        let result: Swift.Result<Result, any Error>
        do {
            guard let address = channel.localAddress else { throw ChannelError.unknownLocalAddress }
            result = .success(try await body(address))
        } catch {
            result = .failure(error)
        }
        let drained = group.any().makePromise(of: Void.self)
        quiescing.initiateShutdown(promise: drained)
        try await drained.futureResult.get()
        return try result.get()
    }

    /// Runs a listener with ``policy(revision:)``.
    static func run<Result: Sendable>(
        limits: ConnectionLimits = limits,
        rateLimit: RateLimit? = nil,
        trustedProxies: TrustedProxies = TrustedProxies(),
        statistics: ListenerStatistics = ListenerStatistics(),
        _ body: @Sendable @escaping (SocketAddress) async throws -> Result
    ) async throws -> Result {
        try await run(
            policy: CurrentPolicy(try policy()), limits: limits, rateLimit: rateLimit, trustedProxies: trustedProxies,
            statistics: statistics, body
        )
    }

    /// A POST of a JSON body.
    static func post(_ body: String, to path: String = "/v1/check", headers: String = "") -> String {
        "POST \(path) HTTP/1.1\r\nHost: localhost\r\n\(headers)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }
}
