// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import Synchronization
import UpdatePolicy

@testable import PolicyServer

/// A public listener on a port that the system picks, with a policy that needs no database.
enum PublicListenerFixture {
    /// The app of the examples.
    static let bundle = "com.example.doto"

    /// The payload of 2013.
    static let payload2013 = """
        {"version":"1.1.0","build":"42","platform":"iOS","region":"en_US","bundle":"com.example.doto","platformname":"iphoneos"}
        """

    /// What the rule of ``policy(revision:)`` answers to a client below 1.2.
    static let answer = """
        {"messages":[{"id":"update","title":"Please update","text":"Doto 1.2 is there.","link":"https://example.com/doto"}]}
        """

    /// A policy with one rule: everybody below 1.2 is asked to update.
    static func policy(revision: Int64 = 7) throws -> CompiledPolicy {
        try CompiledPolicy(
            Policy(
                revision: revision,
                token: "token-\(revision)",
                apps: [App(bundle: bundle, name: "Doto", paused: false, storeLinks: [])],
                releases: [],
                rules: [
                    Rule(
                        key: "update",
                        bundle: bundle,
                        enabled: true,
                        versions: "<1.2",
                        rollout: .all,
                        title: "Please update",
                        text: "{app} 1.2 is there.",
                        link: "https://example.com/doto"
                    )
                ]
            )
        )
    }

    /// Runs a listener with `policy` while `body` runs, then shuts it down gracefully.
    static func run<Result: Sendable>(
        policy: LivePolicy,
        configuration: PublicListenerConfiguration = PublicListenerConfiguration(),
        statistics: PublicListenerStatistics = PublicListenerStatistics(),
        tls: TLSContext? = nil,
        _ body: @Sendable @escaping (SocketAddress) async throws -> Result
    ) async throws -> Result {
        let (addresses, continuation) = AsyncStream.makeStream(of: SocketAddress.self)
        let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        let listener = PublicListener(
            address: ListenAddress(host: "127.0.0.1", port: 0),
            policy: policy,
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
            clock: { Timestamp(microsecondsSince1970: 1_772_366_400_000_000) },
            logger: logger,
            configuration: configuration,
            statistics: statistics,
            tls: tls,
            onBound: { continuation.yield($0) }
        )
        let group = ServiceGroup(services: [listener], logger: logger)
        return try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            var iterator = addresses.makeAsyncIterator()
            guard let address = await iterator.next() else { throw CancellationError() }
            let result: Swift.Result<Result, any Error>
            do {
                result = .success(try await body(address))
            } catch {
                result = .failure(error)
            }
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
            return try result.get()
        }
    }

    /// Runs a listener with ``policy(revision:)``.
    static func run<Result: Sendable>(
        configuration: PublicListenerConfiguration = PublicListenerConfiguration(),
        statistics: PublicListenerStatistics = PublicListenerStatistics(),
        tls: TLSContext? = nil,
        _ body: @Sendable @escaping (SocketAddress) async throws -> Result
    ) async throws -> Result {
        let live = LivePolicy()
        live.replace(with: try policy(), at: Timestamp(microsecondsSince1970: 0))
        return try await run(policy: live, configuration: configuration, statistics: statistics, tls: tls, body)
    }

    /// A POST of a JSON body.
    static func post(_ body: String, to path: String = "/v1/check", headers: String = "") -> String {
        "POST \(path) HTTP/1.1\r\nHost: localhost\r\n\(headers)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }
}
