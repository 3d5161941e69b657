import NIOCore
import Testing

@testable import CheckListener

@Suite("Rate limit", .timeLimit(.minutes(20)))
struct RateLimitTests {
    private typealias Fixture = ListenerFixture

    @Test("The rate limit answers 429 with Retry-After, and the connection goes on")
    func refusesTooMany() async throws {
        let statistics = ListenerStatistics()
        try await Fixture.run(rateLimit: RateLimit(parsing: "0.01:2"), statistics: statistics) { address in
            try await RawConnection.with(address) { connection in
                for _ in 1...2 {
                    try await connection.send(Fixture.post(Fixture.payload2013))
                    #expect(try await connection.response()?.body == Fixture.answer)
                }
                for request in [Fixture.post(Fixture.payload2013), "GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n"] {
                    try await connection.send(request)
                    let response = try await connection.response()
                    #expect(response?.status == 429)
                    #expect(response?.headers["content-type"] == "application/problem+json")
                    #expect(response?.headers["connection"] == nil)
                    #expect(response?.body.contains("asks too often; the next request is answered in ") == true)
                    let wait = Int(response?.headers["retry-after"] ?? "")
                    #expect(wait.map { (90...100).contains($0) } == true)
                }
                // Some update clients crash at a problem document.
                try await connection.send("GET /v1/feeds/com.example.doto/updates.json HTTP/1.1\r\nHost: x\r\n\r\n")
                let feed = try await connection.response()
                #expect(feed?.status == 429 && feed?.headers["content-type"] == "application/json")
                #expect(feed?.body == #"{"updates":{"check-for":"never"}}"#)
                try await connection.send("GET /v1/feeds/com.example.doto/own.json HTTP/1.1\r\nHost: x\r\n\r\n")
                #expect(try await connection.response()?.headers["content-type"] == "application/problem+json")
                try await connection.send("HEAD /v1/check?bundle=a HTTP/1.1\r\nHost: x\r\n\r\n")
                #expect(try await connection.response(toHead: true)?.status == 429)
            }
            try await RawConnection.with(address, from: "127.0.0.2") { other in
                try await other.send(Fixture.post(Fixture.payload2013))
                #expect(try await other.response()?.status == 200, "another address has tokens of its own")
            }
            try await RawConnection.with(address) { again in
                try await again.send(Fixture.post(Fixture.payload2013))
                #expect(try await again.response()?.status == 429, "a new connection has no new tokens")
            }
        }
        #expect(statistics.refusals(.rateLimit) == 6)
        #expect(statistics.problems(.tooManyRequests) == 6)
    }

    @Test("The rate limit ends the connection with the 16th refusal in a row")
    func endsConnections() async throws {
        try await Fixture.run(rateLimit: RateLimit(parsing: "0.01:2")) { address in
            try await RawConnection.with(address) { connection in
                try await connection.send(String(repeating: Fixture.post(Fixture.payload2013), count: 20))
                var responses: [(status: Int, connection: String?)] = []
                while let response = try await connection.response() {
                    responses.append((response.status, response.headers["connection"]))
                }
                #expect(responses.map(\.status) == [200, 200] + Array(repeating: 429, count: 16))
                #expect(responses.map(\.connection) == Array(repeating: nil, count: 17) + ["close"])
            }
        }
    }

    @Test("The rate limit lets the address ask again when a token has come")
    func letsThroughAgain() async throws {
        try await Fixture.run(rateLimit: RateLimit(parsing: "1000:1")) { address in
            try await RawConnection.with(address) { connection in
                var statuses: Set<Int> = []
                for _ in 1...2_000 where statuses.count < 2 {
                    try await connection.send(Fixture.post(Fixture.payload2013) + Fixture.post(Fixture.payload2013))
                    for _ in 1...2 {
                        statuses.insert(try await connection.response()?.status ?? 0)
                    }
                }
                #expect(statuses == [200, 429])
            }
        }
    }

    @Test("The rate limit tells the clients of a trusted proxy apart, and believes nobody else")
    func tellsClientsApart() async throws {
        @Sendable func get(for client: String) -> String {
            "GET /v1/check?bundle=a HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 192.0.2.77, \(client)\r\n\r\n"
        }
        try await Fixture.run(
            rateLimit: RateLimit(parsing: "0.01:1"),
            trustedProxies: TrustedProxies(parsing: "127.0.0.1")
        ) { address in
            try await RawConnection.with(address) { proxy in
                for (client, status) in [
                    ("198.51.100.1", 200), ("198.51.100.2", 200), ("198.51.100.1", 429), ("2001:db8:1:2::1", 200),
                    ("2001:db8:1:2::2", 429), ("2001:db8:1:3::1", 200),
                ] {
                    try await proxy.send(get(for: client))
                    #expect(try await proxy.response()?.status == status, "\(client)")
                }
            }
            try await RawConnection.with(address, from: "127.0.0.2") { liar in
                for (client, status) in [("198.51.100.8", 200), ("198.51.100.9", 429)] {
                    try await liar.send(get(for: client))
                    #expect(try await liar.response()?.status == status)
                }
            }
        }
    }
}
