import NIOCore
import NIOEmbedded
import NIOPosix
import Testing

@testable import CheckListener

@Suite("Connection limits", .serialized, .timeLimit(.minutes(20)))
struct ConnectionLimitTests {
    private typealias Fixture = ListenerFixture

    private static let post = "POST /v1/check HTTP/1.1\r\nHost: x\r\n"

    /// What a client sends, what it sends of something else byte by byte, what it gets before the time for that is over
    /// and then, and why.
    private static let slow: [(sent: String, trickle: String, answers: String, reason: RefusalReason)] = [
        ("", "", " / ", .headerTimeout), ("", "P", " / 408 close", .headerTimeout),
        ("", "POST /v1/check HTT", " / 408 close", .headerTimeout),
        ("", post + "X-A: b", " / 408 close", .headerTimeout),
        (Fixture.get, "P", "200 / 408 close", .headerTimeout),
        (Fixture.get, post + "X-A: b", "200 / 408 close", .headerTimeout),
        (post + "Content-Length: 14\r\n\r\n", "", " / 408 close", .bodyTimeout),
        (post + "Content-Length: 14\r\n\r\n", "{\"bundle\"", " / 408 close", .bodyTimeout),
        (post + "Transfer-Encoding: chunked\r\n\r\n", "9\r\n{\"bundle\"\r\n", " / 408 close", .bodyTimeout),
        (Fixture.get, "", "200 / ", .idleTimeout),
        ("GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n", "", "404 / ", .idleTimeout),
        (Fixture.post(Fixture.payload2013), "", "200 / ", .idleTimeout),
        (Fixture.post("[]"), "", "400 / ", .idleTimeout),
        (post + "Content-Length: 14\r\n\r\n{\"bundle\":\"a\"", "}", "200 / ", .idleTimeout),
    ]

    @Test("The listener ends a connection on which something does not end in time, however it trickles in")
    func endsSlowConnections() throws {
        let limits = Fixture.limits {
            ($0.headerTimeout, $0.bodyTimeout, $0.idleTimeout) = (.seconds(1), .seconds(2), .seconds(3))
        }
        for (sent, trickle, answers, reason) in Self.slow {
            let listener = try EmbeddedListener(limits: limits)
            let connection = try listener.connect()
            try connection.receive(sent)
            listener.eventLoop.run()
            for byte in trickle {
                try connection.receive(String(byte))
                listener.eventLoop.advanceTime(by: .milliseconds(10))
            }
            let limit: Int64 = reason == .headerTimeout ? 1_000 : reason == .bodyTimeout ? 2_000 : 3_000
            listener.eventLoop.advanceTime(by: .milliseconds(limit - 10 * Int64(trickle.count) - 250))
            let comment: Comment = "\(sent), then \(trickle)"
            let before = try connection.responses().summary
            #expect(listener.statistics.refusals(reason) == 0 && connection.channel.isActive, comment)
            // The clock of the limits ticks each quarter of a second.
            listener.eventLoop.advanceTime(by: .milliseconds(500))
            let after = try connection.responses()
            #expect("\(before) / \(after.summary)" == answers, comment)
            let part = reason == .headerTimeout ? "head" : "body"
            #expect(after.allSatisfy { $0.body.contains("The \(part) of the request took too long.") }, comment)
            listener.eventLoop.advanceTime(by: .seconds(60))
            #expect(!connection.channel.isActive, comment)
            for other in RefusalReason.allCases where other != .bodyBytes {
                #expect(listener.statistics.refusals(other) == (other == reason ? 1 : 0), comment)
            }
        }
    }

    @Test(
        "The listener allows one address an eighth of all connections unless something else is said",
        arguments: [
            (16_384, nil, 2_048), (300, nil, 64), (300, 0, nil), (300, 7, 7), (1_000_000, nil, 125_000),
        ] as [(Int, Int?, Int?)]
    )
    func sharesPlaces(connections: Int, configured: Int?, limit: Int?) {
        var limits = ConnectionLimits()
        limits.connections = connections
        limits.connectionsPerAddress = configured
        #expect(limits.maximumPerAddress == limit)
    }

    @Test(
        "The listener closes connections beyond the most there may be from one address, and leaves others and proxies alone",
        arguments: [false, true]
    )
    func limitsConnectionsPerAddress(isProxy: Bool) async throws {
        let statistics = ListenerStatistics()
        let limits = Fixture.limits { $0.connectionsPerAddress = 1 }
        let proxies = try TrustedProxies(parsing: isProxy ? "127.0.0.1" : "192.0.2.1")
        try await Fixture.run(limits: limits, trustedProxies: proxies, statistics: statistics) { address in
            try await RawConnection.with(address) { first in
                try await first.expect(200)
                try await RawConnection.with(address) { second in
                    if isProxy { return try await second.expect(200) }
                    #expect(try await second.isEnded())
                }
                try await RawConnection.with(address, from: "127.0.0.2") { try await $0.expect(200) }
            }
            #expect(try await Self.isAnswered(address), "the address may come again")
        }
        #expect(statistics.refusals(.connectionsPerAddress) >= 1 || isProxy)
        #expect(statistics.refusals(.connections) == 0)
    }

    @Test("The listener reads no more from a client that never reads, and ends the connection after a while")
    func endsConnectionsOfClientsThatNeverRead() async throws {
        let statistics = ListenerStatistics()
        let limits = Fixture.limits { $0.unreadTimeout = .milliseconds(500) }
        let flood = ByteBuffer(string: String(repeating: Fixture.get, count: 100))
        try await Fixture.run(limits: limits, statistics: statistics) { address in
            let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .channelOption(.autoRead, value: false)
                .channelOption(.socketOption(.so_rcvbuf), value: 4_096)
                .connect(to: address).get()
            var sent = 0
            do {
                while sent < 10_000 {
                    try await channel.writeAndFlush(flood)
                    sent += 1
                }
            } catch {
                // The server ended the connection while the client was sending.
            }
            #expect(sent < 10_000, "the server read 77 MB whose answers nobody read")
            try await channel.closeFuture.get()
            #expect(try await Self.isAnswered(address))
        }
        #expect(statistics.refusals(.unreadTimeout) == 1)
    }

    /// Whether a check on a new connection is answered; tries again while the server closes connections at once.
    private static func isAnswered(_ address: SocketAddress) async throws -> Bool {
        for _ in 1...1_000 {
            let response = try? await RawConnection.with(address) { try await $0.ask(Fixture.get) }
            if let response { return response.status == 200 }
        }
        return false
    }
}
