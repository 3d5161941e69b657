import NIOCore
import NIOEmbedded
import NIOPosix
import Testing

@testable import CheckListener

@Suite("Connection limits", .serialized, .timeLimit(.minutes(20)))
struct ConnectionLimitTests {
    private typealias Fixture = ListenerFixture

    /// One of them: each has its share of the connections, and looks for room among them.
    private static let eventLoop = MultiThreadedEventLoopGroup.singleton.next()

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
            #expect(listener.statistics.refusals[reason] == 0 && connection.channel.isActive, comment)
            // The clock of the limits ticks each quarter of a second.
            listener.eventLoop.advanceTime(by: .milliseconds(500))
            let after = try connection.responses()
            #expect("\(before) / \(after.summary)" == answers, comment)
            let part = reason == .headerTimeout ? "head" : "body"
            #expect(after.allSatisfy { $0.body.contains("The \(part) of the request took too long.") }, comment)
            listener.eventLoop.advanceTime(by: .seconds(60))
            #expect(!connection.channel.isActive, comment)
            for other in RefusalReason.allCases where other != .bodyBytes {
                #expect(listener.statistics.refusals[other] == (other == reason ? 1 : 0), comment)
            }
        }
    }

    /// The beginning of a request that is under way once 100 has come for it, and its rest.
    private static let waiting =
        "POST /v1/check HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: \(Fixture.payload2013.utf8.count)\r\n\r\n"

    @Test(
        "The listener closes connections beyond the most there may be while none is idle, and accepts again when one has gone"
    )
    func limitsConnections() async throws {
        let statistics = ListenerStatistics()
        try await Fixture.run(
            limits: Fixture.limits { $0.connections = 2 }, statistics: statistics, eventLoops: Self.eventLoop
        ) { address in
            try await RawConnection.with(address) { first in
                try await first.expect(100, to: Self.waiting)
                try await RawConnection.with(address) { second in
                    try await second.expect(100, to: Self.waiting)
                    try await RawConnection.with(address) { third in
                        let isEnded = try await third.isEnded()
                        #expect(isEnded)
                    }
                    // The server ends the connection once it has read this, so a place is free before the next one comes.
                    try await second.send(
                        Fixture.payload2013 + "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
                    )
                    #expect(try await second.response()?.status == 200)
                    #expect(try await second.response()?.status == 404)
                    #expect(try await second.isEnded())
                }
                #expect(try await Self.isAnswered(address), "a place is free again")
                try await first.send(Fixture.payload2013)
                #expect(try await first.response()?.status == 200)
            }
        }
        #expect(statistics.refusals(.connections) >= 1)
        #expect(statistics.openConnections == 0)
    }

    @Test("The listener closes an idle connection for a new one when there are as many as there may be")
    func makesRoom() async throws {
        let statistics = ListenerStatistics()
        try await Fixture.run(
            limits: Fixture.limits { $0.connections = 1 }, statistics: statistics, eventLoops: Self.eventLoop
        ) { address in
            try await RawConnection.with(address) { silent in
                try await RawConnection.with(address) { first in
                    try await first.expect(200)
                    try await RawConnection.with(address) { second in
                        try await second.expect(200)
                    }
                    #expect(try await first.isEnded())
                }
                #expect(try await silent.isEnded())
            }
        }
        #expect(statistics.refusals(.evicted) == 2)
        #expect(statistics.refusals(.connections) == 0)
        #expect(statistics.openConnections == 0)
    }

    @Test(
        "The listener ends connections of the address that has most of them first, also if others have been idle for longer"
    )
    func makesRoomByAddress() async throws {
        let statistics = ListenerStatistics()
        try await Fixture.run(
            limits: Fixture.limits { $0.connections = 4 }, statistics: statistics, eventLoops: Self.eventLoop
        ) { address in
            try await RawConnection.with(address, from: "127.0.0.2") { other in
                try await other.expect(200)
                // More than there is room for, each idle for a shorter time than the one before.
                #expect(try await Self.answered(12, address) == 12)
                try await other.expect(200)
            }
        }
        #expect(statistics.refusals(.evicted) >= 9)
    }

    /// How many of so many clients are answered that stay; each comes when the one before is answered.
    private static func answered(_ count: Int, _ address: SocketAddress) async throws -> Int {
        guard count > 0 else { return 0 }
        return try await RawConnection.with(address) { connection in
            let response = try await connection.ask(Fixture.get)
            return try await answered(count - 1, address) + (response?.status == 200 ? 1 : 0)
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

    @Test("The listener closes connections beyond the most there may be from one address, and leaves others alone")
    func limitsConnectionsPerAddress() async throws {
        let statistics = ListenerStatistics()
        let limits = Fixture.limits { $0.connectionsPerAddress = 1 }
        try await Fixture.run(limits: limits, statistics: statistics) { address in
            try await RawConnection.with(address) { first in
                try await first.expect(200)
                try await RawConnection.with(address) { second in
                    let isEnded = try await second.isEnded()
                    #expect(isEnded)
                }
                try await RawConnection.with(address, from: "127.0.0.2") { other in
                    try await other.expect(200)
                }
            }
            #expect(try await Self.isAnswered(address), "the address may come again")
        }
        #expect(statistics.refusals(.connectionsPerAddress) >= 1)
        #expect(statistics.refusals(.connections) == 0)
    }

    @Test("The listener does not hold a trusted proxy to the limit per address")
    func exemptsTrustedProxies() async throws {
        let limits = Fixture.limits { $0.connectionsPerAddress = 1 }
        let proxies = try TrustedProxies(parsing: "127.0.0.0/8")
        try await Fixture.run(limits: limits, trustedProxies: proxies) { address in
            try await RawConnection.with(address) { first in
                try await first.expect(200)
                try await RawConnection.with(address) { second in
                    try await second.expect(200)
                }
            }
        }
    }

    @Test("The listener answers all of more pipelined requests than it would keep the answers of, in order")
    func answersFloodsInOrder() async throws {
        let requests = (0..<2_000).map { number in
            number % 7 == 3 ? Fixture.post(Fixture.payload2013) : "GET /\(number) HTTP/1.1\r\nHost: x\r\n\r\n"
        }
        let statuses = try await Fixture.run(limits: Fixture.limits { $0.bufferedBytes = 4_096 }) { address in
            try await RawConnection.with(address) { connection in
                try await connection.send(requests.joined())
                var statuses: [Int?] = []
                for _ in requests { statuses.append(try await connection.response()?.status) }
                return statuses
            }
        }
        #expect(statuses == (0..<2_000).map { $0 % 7 == 3 ? 200 : 404 })
    }

    @Test("The listener reads no more from a client that never reads, and ends the connection after a while")
    func endsConnectionsOfClientsThatNeverRead() async throws {
        let statistics = ListenerStatistics()
        let limits = Fixture.limits {
            $0.unreadTimeout = .milliseconds(500)
            $0.bufferedBytes = 4_096
        }
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
