import NIOCore
import NIOEmbedded
import NIOPosix
import Testing

@testable import CheckListener

@Suite("Connection limits", .serialized, .timeLimit(.minutes(20)))
struct ConnectionLimitTests {
    private typealias Fixture = ListenerFixture

    private static let get = "GET /v1/check?bundle=com.example.doto&version=1.1 HTTP/1.1\r\nHost: x\r\n\r\n"

    private func limits(_ change: (inout ConnectionLimits) -> Void) -> ConnectionLimits {
        var limits = Fixture.limits
        change(&limits)
        return limits
    }

    /// A head that is too large, and how it is refused.
    struct LargeHead: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let request: String
        let status: Int
        let detail: String
        let problem: ProblemStatus
        let reason: RefusalReason
    }

    static let largeHeads = [
        LargeHead(
            testDescription: "a target of 300 KB",
            request: "GET /v1/check?bundle=\(String(repeating: "a", count: 300_000)) HTTP/1.1\r\nHost: x\r\n\r\n",
            status: 414, detail: "The request line is longer than 12288 bytes. Use POST for longer descriptions.",
            problem: .uriTooLong, reason: .requestLineBytes
        ),
        LargeHead(
            testDescription: "a request line one byte too long",
            request: "GET /\(String(repeating: "a", count: 12_288 - 14)) HTTP/1.1\r\nHost: x\r\n\r\n", status: 414,
            detail: "is longer than 12288 bytes", problem: .uriTooLong, reason: .requestLineBytes
        ),
        LargeHead(
            testDescription: "a field of 300 KB",
            request: "GET / HTTP/1.1\r\nHost: x\r\nX-A: \(String(repeating: "a", count: 300_000))\r\n\r\n", status: 431,
            detail: "The header fields of the request are too large or too many; send fewer.",
            problem: .headerFieldsTooLarge, reason: .headerBytes
        ),
        LargeHead(
            testDescription: "5,000 fields",
            request: "GET / HTTP/1.1\r\nHost: x\r\n\(String(repeating: "X-A: a\r\n", count: 5_000))\r\n", status: 431,
            detail: "too large or too many", problem: .headerFieldsTooLarge, reason: .headerBytes
        ),
    ]

    @Test(
        "The listener refuses a head that is too large, and the answer arrives although more was sent",
        arguments: largeHeads
    )
    func refusesLargeHeads(_ head: LargeHead) async throws {
        let statistics = ListenerStatistics()
        try await Fixture.run(statistics: statistics) { address in
            try await RawConnection.with(address) { connection in
                try await connection.send(head.request)
                let response = try await connection.response()
                #expect(response?.status == head.status)
                #expect(response?.body.contains(head.detail) == true)
                #expect(response?.headers["connection"] == "close")
                #expect(response?.headers["content-type"] == "application/problem+json")
                #expect(try await connection.isEnded())
            }
        }
        #expect(statistics.refusals(head.reason) == 1)
        #expect(statistics.problems(head.problem) == 1)
    }

    @Test("The listener accepts a request line of exactly as many bytes as may be")
    func acceptsTheLongestRequestLine() async throws {
        let target = "/" + String(repeating: "a", count: 12_288 - 15)
        let response = try await Fixture.run { address in
            try await RawConnection.with(address) { connection in
                for byte in "GET " { try await connection.send(String(byte)) }
                try await connection.send("\(target) HTTP/1.1\r\nHost: x\r\n\r\n")
                return try await connection.response()
            }
        }
        #expect(response?.status == 404)
    }

    @Test(
        "The listener ends a connection whose head does not end in time, however it trickles in",
        arguments: ["P", "POST /v1/check HTT", "POST /v1/check HTTP/1.1\r\nHost: x\r\nX-A: b"]
    )
    func endsSlowHeads(beginning: String) throws {
        let listener = try EmbeddedListener(limits: limits { $0.headerTimeout = .seconds(1) })
        // The second head of a connection is held to the same limit.
        for first in ["", Self.get] {
            let connection = try listener.connect()
            try connection.channel.writeInbound(ByteBuffer(string: first))
            listener.eventLoop.run()
            let sent = try connection.sent()
            #expect(first.isEmpty ? sent.isEmpty : sent.hasSuffix(Fixture.answer))
            for byte in beginning {
                try connection.channel.writeInbound(ByteBuffer(string: String(byte)))
                listener.eventLoop.advanceTime(by: .milliseconds(20))
            }
            #expect(try connection.sent().isEmpty)
            // A quarter of a second more than the limit, as its clock ticks, and less than the limit after the last byte.
            listener.eventLoop.advanceTime(by: .milliseconds(1_250 - 20 * Int64(beginning.count)))
            let refusal = try connection.sent()
            #expect(refusal.hasPrefix("HTTP/1.1 408 ") && refusal.contains("The head of the request took too long."))
            listener.eventLoop.advanceTime(by: .seconds(60))
            #expect(!connection.channel.isActive)
        }
        #expect(listener.statistics.refusals[.headerTimeout] == 2)
        #expect(listener.statistics.problems[.requestTimeout] == 2)
    }

    @Test("The listener ends a connection that never says anything, without a word")
    func endsSilentConnections() async throws {
        let statistics = ListenerStatistics()
        let limits = limits { $0.headerTimeout = .milliseconds(100) }
        try await Fixture.run(limits: limits, statistics: statistics) { address in
            try await RawConnection.with(address) { connection in
                let isEnded = try await connection.isEnded()
                #expect(isEnded)
            }
        }
        #expect(statistics.refusals(.headerTimeout) == 1)
        #expect(statistics.problems(.requestTimeout) == 0)
    }

    @Test(
        "The listener ends a connection whose body does not end in time",
        arguments: [
            "Content-Length: 14\r\n\r\n{\"bundle\"", "Content-Length: 14\r\n\r\n",
            "Transfer-Encoding: chunked\r\n\r\n9\r\n{\"bundle\"\r\n",
        ]
    )
    func endsSlowBodies(beginning: String) async throws {
        let statistics = ListenerStatistics()
        let limits = limits { $0.bodyTimeout = .milliseconds(100) }
        try await Fixture.run(limits: limits, statistics: statistics) { address in
            try await RawConnection.with(address) { connection in
                try await connection.send("POST /v1/check HTTP/1.1\r\nHost: x\r\n" + beginning)
                let response = try await connection.response()
                #expect(response?.status == 408)
                #expect(response?.body.contains("The body of the request took too long.") == true)
                #expect(try await connection.isEnded())
            }
        }
        #expect(statistics.refusals(.bodyTimeout) == 1)
    }

    @Test("The listener ends a connection that sends the rest of a refused body too slowly")
    func endsSlowRefusedBodies() async throws {
        let statistics = ListenerStatistics()
        let limits = limits { $0.bodyTimeout = .milliseconds(100) }
        try await Fixture.run(limits: limits, statistics: statistics) { address in
            try await RawConnection.with(address) { connection in
                try await connection.send("POST /v1/check HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\nxxx")
                #expect(try await connection.response()?.status == 413)
                #expect(try await connection.isEnded())
            }
        }
        #expect(statistics.refusals(.bodyTimeout) == 1)
        #expect(statistics.refusals(.bodyBytes) == 1)
    }

    @Test(
        "The listener ends a connection that is idle for too long, whatever was answered last",
        arguments: [
            (get, 200), ("GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n", 404),
            (Fixture.post(Fixture.payload2013), 200), (Fixture.post("[]"), 400),
        ]
    )
    func endsIdleConnections(request: String, status: Int) async throws {
        let statistics = ListenerStatistics()
        let limits = limits { $0.idleTimeout = .milliseconds(100) }
        try await Fixture.run(limits: limits, statistics: statistics) { address in
            try await RawConnection.with(address) { connection in
                try await connection.send(request)
                #expect(try await connection.response()?.status == status)
                #expect(try await connection.isEnded())
            }
        }
        #expect(statistics.refusals(.idleTimeout) == 1)
    }

    @Test("The listener says Connection: close on the last request that it answers, and answers none after it")
    func limitsRequestsPerConnection() async throws {
        try await Fixture.run(limits: limits { $0.requestsPerConnection = 3 }) { address in
            try await RawConnection.with(address) { connection in
                try await connection.send(String(repeating: Self.get, count: 50))
                for _ in 1...2 {
                    #expect(try await connection.response()?.headers["connection"] == nil)
                }
                let last = try await connection.response()
                #expect(last?.body == Fixture.answer)
                #expect(last?.headers["connection"] == "close")
                #expect(try await connection.isEnded())
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
        try await Fixture.run(limits: limits { $0.connections = 2 }, statistics: statistics) { address in
            try await RawConnection.with(address) { first in
                try await first.send(Self.waiting)
                #expect(try await first.response()?.status == 100)
                try await RawConnection.with(address) { second in
                    try await second.send(Self.waiting)
                    #expect(try await second.response()?.status == 100)
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
        try await Fixture.run(limits: limits { $0.connections = 1 }, statistics: statistics) { address in
            try await RawConnection.with(address) { silent in
                try await RawConnection.with(address) { first in
                    try await first.send(Self.get)
                    #expect(try await first.response()?.status == 200)
                    try await RawConnection.with(address) { second in
                        try await second.send(Self.get)
                        #expect(try await second.response()?.status == 200)
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
        // One event loop: each looks for room among its own connections only.
        try await Fixture.run(
            policy: CurrentPolicy(try Fixture.policy()), limits: limits { $0.connections = 4 }, statistics: statistics,
            eventLoops: MultiThreadedEventLoopGroup.singleton.next()
        ) { address in
            try await RawConnection.with(address, from: "127.0.0.2") { other in
                try await other.send(Self.get)
                #expect(try await other.response()?.status == 200)
                // More than there is room for, each idle for a shorter time than the one before.
                #expect(try await Self.answered(12, address) == 12)
                try await other.send(Self.get)
                #expect(try await other.response()?.status == 200)
            }
        }
        #expect(statistics.refusals(.evicted) >= 9)
    }

    /// How many of so many clients are answered that stay; each comes when the one before is answered.
    private static func answered(_ count: Int, _ address: SocketAddress) async throws -> Int {
        guard count > 0 else { return 0 }
        return try await RawConnection.with(address) { connection in
            try await connection.send(get)
            let response = try await connection.response()
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
        let limits = limits { $0.connectionsPerAddress = 1 }
        try await Fixture.run(limits: limits, statistics: statistics) { address in
            try await RawConnection.with(address) { first in
                try await first.send(Self.get)
                #expect(try await first.response()?.status == 200)
                try await RawConnection.with(address) { second in
                    let isEnded = try await second.isEnded()
                    #expect(isEnded)
                }
                try await RawConnection.with(address, from: "127.0.0.2") { other in
                    try await other.send(Self.get)
                    #expect(try await other.response()?.status == 200)
                }
            }
            #expect(try await Self.isAnswered(address), "the address may come again")
        }
        #expect(statistics.refusals(.connectionsPerAddress) >= 1)
        #expect(statistics.refusals(.connections) == 0)
    }

    /// A chunked request whose content comes in chunks of a size.
    private static func chunked(_ content: String, by size: Int) -> String {
        var request = "POST /v1/check HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
        var rest = content[...]
        while !rest.isEmpty {
            let chunk = rest.prefix(size)
            rest = rest.dropFirst(size)
            request += String(chunk.utf8.count, radix: 16) + "\r\n\(chunk)\r\n"
        }
        return request + "0\r\n\r\n"
    }

    @Test(
        "The listener reads a body in up to about 200 chunks, and refuses it in more, however they arrive",
        arguments: [true, false]
    )
    func limitsChunks(arriveAtOnce: Bool) async throws {
        let statistics = ListenerStatistics()
        let content =
            #"{"bundle":"com.example.doto","version":"1.1","x":""# + String(repeating: "a", count: 12_000) + #""}"#
        try await Fixture.run(statistics: statistics) { address in
            try await RawConnection.with(address) { connection in
                try await connection.send(Self.chunked(content, by: 80))
                #expect(try await connection.response()?.body == Fixture.answer)
                let request = Array(Self.chunked(content, by: 1).utf8)
                if arriveAtOnce {
                    try await connection.send(request)
                } else {
                    // The server ends the connection somewhere within.
                    for start in stride(from: 0, to: request.count, by: 997) {
                        try? await connection.send(Array(request[start..<min(start + 997, request.count)]))
                    }
                }
                let response = try await connection.response()
                #expect(response?.status == 400)
                #expect(response?.body.contains("too many chunks") == true)
                #expect(response?.headers["connection"] == "close")
                #expect(try await connection.isEnded())
            }
        }
        #expect(statistics.refusals(.malformedRequest) == 1)
    }

    @Test("The listener does not hold a trusted proxy to the limit per address")
    func exemptsTrustedProxies() async throws {
        let limits = limits { $0.connectionsPerAddress = 1 }
        let proxies = try TrustedProxies(parsing: "127.0.0.0/8")
        try await Fixture.run(limits: limits, trustedProxies: proxies) { address in
            try await RawConnection.with(address) { first in
                try await first.send(Self.get)
                #expect(try await first.response()?.status == 200)
                try await RawConnection.with(address) { second in
                    try await second.send(Self.get)
                    #expect(try await second.response()?.status == 200)
                }
            }
        }
    }

    @Test("The listener answers all of more pipelined requests than it would keep the answers of, in order")
    func answersFloodsInOrder() async throws {
        let requests = (0..<2_000).map { number in
            number % 7 == 3 ? Fixture.post(Fixture.payload2013) : "GET /\(number) HTTP/1.1\r\nHost: x\r\n\r\n"
        }
        let statuses = try await Fixture.run(limits: limits { $0.bufferedBytes = 4_096 }) { address in
            try await RawConnection.with(address) { connection in
                try await connection.send(requests.joined())
                var statuses: [Int?] = []
                for _ in requests {
                    statuses.append(try await connection.response()?.status)
                }
                return statuses
            }
        }
        #expect(statuses == (0..<2_000).map { $0 % 7 == 3 ? 200 : 404 })
    }

    @Test("The listener reads no more from a client that never reads, and ends the connection after a while")
    func endsConnectionsOfClientsThatNeverRead() async throws {
        let statistics = ListenerStatistics()
        let limits = limits {
            $0.unreadTimeout = .milliseconds(500)
            $0.bufferedBytes = 4_096
        }
        let flood = ByteBuffer(string: String(repeating: Self.get, count: 100))
        try await Fixture.run(limits: limits, statistics: statistics) { address in
            let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .channelOption(.autoRead, value: false)
                .channelOption(.socketOption(.so_rcvbuf), value: 4_096)
                .connect(to: address)
                .get()
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
            let response = try? await RawConnection.with(address) { connection in
                try await connection.send(get)
                return try await connection.response()
            }
            if let response { return response.status == 200 }
        }
        return false
    }
}
