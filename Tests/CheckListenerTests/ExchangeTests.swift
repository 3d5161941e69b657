import Testing

@testable import CheckListener

/// What clients send over sockets, and what they get.
@Suite("Exchanges", .timeLimit(.minutes(20)))
struct ExchangeTests {
    private typealias Fixture = ListenerFixture

    private static let body = #"{"bundle":"a"}"#
    private static let get = "GET /v1/check?bundle=a HTTP/1.1\r\n"
    private static let post = "POST /v1/check HTTP/1.1\r\nHost: x\r\n"
    private static let chunked = post + "Transfer-Encoding: chunked\r\n\r\n"
    private static let old = Fixture.post(Fixture.payload2013).replacing("HTTP/1.1", with: "HTTP/1.0")

    /// Some text, many times.
    private static func many(_ count: Int, _ text: String = "a") -> String { String(repeating: text, count: count) }

    /// Bytes on a new connection.
    private struct Bytes {
        let name: String
        let bytes: [UInt8]

        init(_ name: String, _ text: String) { (self.name, bytes) = (name, Array(text.utf8)) }

        init(_ trick: SmugglingCorpus.Trick) { (name, bytes) = (trick.description, trick.bytes) }

        init(_ name: String, _ head: String, _ byte: UInt8, _ tail: String) {
            (self.name, bytes) = (name, Array(head.utf8) + [byte] + Array(tail.utf8))
        }
    }

    /// Bytes, and what they are answered: `next` where the connection goes on and the request behind them is answered.
    private struct Exchange {
        let bytes: Bytes
        let answers: String
        /// A part of the body of the first answer.
        let says: String
        let reason: RefusalReason?

        init(_ bytes: Bytes, _ answers: String, says: String = "", _ reason: RefusalReason? = nil) {
            (self.bytes, self.answers, self.says, self.reason) = (bytes, answers, says, reason)
        }

        init(_ name: String, _ text: String, _ answers: String, says: String = "", _ reason: RefusalReason? = nil) {
            self.init(Bytes(name, text), answers, says: says, reason)
        }
    }

    /// Requests that could be read in two ways, or in none.
    private static let malformed =
        SmugglingCorpus.tricks.filter { $0.isRefused && !$0.description.contains("4294967310") }.map(Bytes.init) + [
            Bytes("a length of 2^64 - 1", post + "Content-Length: 18446744073709551615\r\n\r\n" + body),
            Bytes("a GET with a length of 2^63", get + "Host: x\r\nContent-Length: 9223372036854775808\r\n\r\n"),
            Bytes("a wrong Host in HTTP/1.0", "GET /v1/check?bundle=a HTTP/1.0\r\nHost: a b\r\n\r\n"),
            Bytes("a field without a name", get + "Host: x\r\n: x\r\n\r\n"),
            Bytes("chunked in two fields", chunked.dropLast(2) + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
            Bytes("an extension of 300 KB", chunked + "e;" + many(300_000) + "\r\n" + body + "\r\n0\r\n\r\n"),
            Bytes("many extensions", chunked + many(4_000, "1;\(many(90))\r\n \r\n") + "0\r\n\r\n"),
            Bytes("trailers of 300 KB", chunked + "e\r\n" + body + "\r\n0\r\nX: " + many(300_000) + "\r\n\r\n"),
            Bytes("a control character in a field", get + "Host: x\r\nX-A: b", 1, "c\r\n\r\n"),
            Bytes("DEL in a field", get + "Host: x\r\nX-A: b", 0x7F, "c\r\n\r\n"),
            Bytes("a byte above 0x7F in a name", get + "Host: x\r\nX", 0xE9, ": b\r\n\r\n"),
            Bytes("HTTP/11", "GET /v1/check?bundle=a HTTP/11\r\nHost: x\r\n\r\n"),
            Bytes("a blank before the method", " GET /v1/check?bundle=a HTTP/1.1\r\nHost: x\r\n\r\n"),
            Bytes("what is no HTTP", "\u{16}\u{3}\u{1} this is no HTTP\r\n\r\n"),
        ]

    /// Requests that are only unusual.
    private static let unusual = [
        Bytes("a length with leading zeros", post + "Content-Length: 0014\r\n\r\n" + body),
        Bytes("a short extension", chunked + "e;a=b\r\n" + body + "\r\n0\r\n\r\n"),
        Bytes("a trailer", chunked + "e\r\n" + body + "\r\n0\r\nX-A: b\r\n\r\n"),
        Bytes("chunked in capitals", post + "TRANSFER-ENCODING: Chunked\r\n\r\ne\r\n" + body + "\r\n0\r\n\r\n"),
        Bytes("a chunked GET", get + "Host: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        Bytes("empty lines before the request", "\r\n\r\n" + get + "Host: x\r\n\r\n"),
        Bytes("an empty Host", get + "Host:\r\n\r\n"),
        Bytes("a Host with a port", get + "Host: my-app_1.example.com:65535\r\n\r\n"),
        Bytes("a byte above 0x7F in a value", get + "Host: x\r\nX-A: ", 0xE9, "\r\n\r\n"),
        Bytes("no blank after a colon", get + "Host:x\r\nX-A:\tb \r\n\r\n"),
        Bytes("an absolute target", Fixture.post(Fixture.payload2013, to: "http://localhost/v1/check")),
        Bytes("a body in chunks of a byte", inChunks(Fixture.payload2013, of: 1)),
        Bytes("a body of 16,384 bytes", Fixture.post(filled(16_384))),
        Bytes("a body in about 200 chunks", inChunks(filled(12_000), of: 80)),
    ]

    /// A check whose body has so many bytes.
    private static func filled(_ size: Int) -> String {
        let empty = #"{"bundle":"com.example.doto","version":"1.1","x":""}"#
        return empty.dropLast(2) + many(size - empty.utf8.count) + #""}"#
    }

    /// A chunked request whose content comes in chunks of a size.
    private static func inChunks(_ content: String, of size: Int) -> String {
        var request = chunked
        var rest = content[...]
        while !rest.isEmpty {
            let chunk = rest.prefix(size)
            rest = rest.dropFirst(size)
            request += String(chunk.utf8.count, radix: 16) + "\r\n\(chunk)\r\n"
        }
        return request + "0\r\n\r\n"
    }

    private static let others: [Exchange] = [
        // Too much, and exactly as much as may be.
        Exchange(
            "a target of 300 KB", "GET /v1/check?bundle=\(many(300_000)) HTTP/1.1\r\nHost: x\r\n\r\n", "414 close",
            says: "The request line is longer than 12288 bytes. Use POST for longer descriptions.",
            .requestLineBytes
        ),
        Exchange(
            "a request line of one byte too many", "GET /\(many(12_274)) HTTP/1.1\r\nHost: x\r\n\r\n", "414 close",
            says: "is longer than 12288 bytes", .requestLineBytes
        ),
        Exchange(
            "the longest request line", "GET /\(many(12_273)) HTTP/1.1\r\nHost: x\r\n\r\n", "404 | next",
            says: "There is nothing at this path"
        ),
        Exchange(
            "a query of 9 KiB", "GET /v1/check?bundle=\(many(9_216)) HTTP/1.1\r\nHost: x\r\n\r\n", "414 | next",
            says: "at most 8192", .requestLineBytes
        ),
        Exchange(
            "a field of 300 KB", "GET / HTTP/1.1\r\nHost: x\r\nX-A: \(many(300_000))\r\n\r\n", "431 close",
            says: "The header fields of the request are too large or too many; send fewer.", .headerBytes
        ),
        Exchange(
            "5,000 fields", "GET / HTTP/1.1\r\nHost: x\r\n\(many(5_000, "X-A: a\r\n"))\r\n", "431 close",
            says: "too large or too many", .headerBytes
        ),
        Exchange(
            "a body of one byte too many", Fixture.post(filled(16_385)), "413 close",
            says: "at most 16384 bytes are read", .bodyBytes
        ),
        Exchange("a body of 1 MB", Fixture.post(many(1_000_000)), "413 close", says: "1000000 bytes", .bodyBytes),
        Exchange(
            "a length of 2^32 + 14", post + "Content-Length: 4294967310\r\n\r\n" + body, "413 close",
            says: "4294967310 bytes", .bodyBytes
        ),
        Exchange(
            "a chunk of 1 MB", chunked + "f4240\r\n\(many(1_000_000))\r\n0\r\n\r\n", "413 close", says: "too large",
            .bodyBytes
        ),
        Exchange(
            "a body in 12,000 chunks", inChunks(filled(12_000), of: 1), "400 close", says: "too many chunks",
            .malformedRequest
        ),
        // What a body is.
        Exchange(
            Bytes("a body that is not UTF-8", post + "Content-Length: 16\r\n\r\n{\"bundle\":\"a", 0xC3, "(\"}"),
            "400 | next", says: "not valid UTF-8"
        ),
        Exchange(
            "three requests at once", Fixture.post(Fixture.payload2013) + Fixture.post("[]") + Fixture.get,
            "200 | 400 | 200 | next", says: Fixture.answer
        ),
        Exchange(
            "HEAD", "HEAD /v1/check?bundle=com.example.doto&version=1.1 HTTP/1.1\r\nHost: x\r\n\r\n" + Fixture.get,
            "200 | 200 | next"
        ),
        Exchange(
            "a client that waits for 100",
            Fixture.post(Fixture.payload2013, headers: "Expect: 100-continue\r\n"), "100 | 200 | next"
        ),
        Exchange(
            "a client that waits for 100, with too much",
            Fixture.post(many(17_000), headers: "Expect: 100-continue\r\n"), "413 close", .bodyBytes
        ),
        // Who ends the connection.
        Exchange("close", Fixture.post(Fixture.payload2013, headers: "Connection: close\r\n"), "200 close"),
        Exchange("HTTP/1.0", old, "200 close"),
        Exchange(
            "HTTP/1.0 that stays", old.replacing("Host:", with: "Connection: keep-alive\r\nHost:"),
            "200 keep-alive | next"
        ),
        Exchange(
            "an upgrade to HTTP/2",
            get + "Host: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AA\r\n\r\n",
            "200 close"
        ),
        Exchange(
            "an upgrade to WebSocket",
            post + "Connection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 14\r\n\r\n" + body, "200 close"
        ),
        Exchange("a tunnel", "CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n", "404 close"),
    ]

    /// Sends each on a connection of its own, in one piece and in many, with a request behind it.
    private static func play(_ exchanges: [Exchange], limits: ConnectionLimits = Fixture.limits) async throws {
        let statistics = ListenerStatistics()
        let next = Array("DELETE /v1/check HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".utf8)
        try await Fixture.run(limits: limits, statistics: statistics) { address in
            for exchange in exchanges {
                let bytes = exchange.bytes.bytes + next
                let size = bytes.count < 500 ? 13 : bytes.count < 100_000 ? 997 : 65_521
                let cut = stride(from: 0, to: bytes.count, by: size).map {
                    Array(bytes[$0..<min($0 + size, bytes.count)])
                }
                for pieces in [[bytes], cut] {
                    let responses = try await RawConnection.with(address) { connection in
                        // The server may end the connection in the middle.
                        for piece in pieces { try? await connection.send(piece) }
                        return try await connection.responses(toHead: bytes.starts(with: Array("HEAD".utf8)))
                    }
                    let comment: Comment = "\(exchange.bytes.name), in \(pieces.count) pieces"
                    #expect(responses.summary.replacing("405 close", with: "next") == exchange.answers, comment)
                    #expect(exchange.says.isEmpty || responses.first?.body.contains(exchange.says) == true, comment)
                    for response in responses where response.status >= 400 {
                        #expect(response.headers["content-type"] == "application/problem+json", comment)
                        #expect(response.body.contains("\"status\":\(response.status),"), comment)
                    }
                }
            }
        }
        // Each was sent twice.
        for reason in RefusalReason.allCases {
            #expect(statistics.refusals(reason) == 2 * exchanges.count { $0.reason == reason }, "\(reason)")
        }
    }

    @Test(
        "What could be read in two ways is refused and ends the connection, what is only unusual is answered, and nothing depends on how the bytes are cut"
    )
    func areAnswered() async throws {
        let malformed = Self.malformed.map { Exchange($0, "400 close", .malformedRequest) }
        try await Self.play(malformed + Self.unusual.map { Exchange($0, "200 | next") } + Self.others)
    }

    @Test("The last request of a connection is told so, and none after it is answered")
    func limitsRequests() async throws {
        let gets = Exchange("50 requests", Self.many(50, Fixture.get), "200 | 200 | 200 close", says: Fixture.answer)
        try await Self.play([gets], limits: Fixture.limits { $0.requestsPerConnection = 3 })
    }

    @Test("While there is no policy no message is sent, and no revision")
    func answersWithoutAPolicy() throws {
        let listener = try EmbeddedListener(CurrentPolicy())
        let standard = try listener.ask(Fixture.post(Fixture.payload2013))
        #expect(standard.body == #"{"messages":[]}"# && standard.headers["policy-revision"] == nil)
        #expect(try listener.ask(Fixture.post(Fixture.payload2013, to: "/tables/vLoadMessages")).body == "{}")
    }
}
