import NIOCore
import Testing

@testable import CheckListener

@Suite("Rate limit", .timeLimit(.minutes(20)))
struct RateLimitTests {
    private typealias Fixture = ListenerFixture

    @Test("The rate limit answers 429 with Retry-After, and ends the connection with the 16th in a row")
    func refusesTooMany() async throws {
        let statistics = ListenerStatistics()
        try await Fixture.run(rateLimit: RateLimit(parsing: "0.01:2"), statistics: statistics) { address in
            try await RawConnection.with(address) { connection in
                for _ in 1...2 { #expect(try await connection.ask(Fixture.get)?.body == Fixture.answer) }
                for (request, type) in [
                    (Fixture.get, "application/problem+json"),
                    ("GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n", "application/problem+json"),
                    ("GET /v1/feeds/a/own.json HTTP/1.1\r\nHost: x\r\n\r\n", "application/problem+json"),
                    ("HEAD /v1/check?bundle=a HTTP/1.1\r\nHost: x\r\n\r\n", "application/problem+json"),
                    // Some update clients crash at a problem document.
                    ("GET /v1/feeds/a/updates.json HTTP/1.1\r\nHost: x\r\n\r\n", "application/json"),
                ] {
                    let response = try #require(try await connection.ask(request))
                    #expect([response].summary == "429" && response.headers["content-type"] == type, "\(request)")
                    let text = "asks too often; the next request is answered in "
                    let body = request.contains("updates") ? #"{"updates":{"check-for":"never"}}"# : text
                    #expect(request.hasPrefix("HEAD") || response.body.contains(body), "\(request)")
                    #expect(Int(response.headers["retry-after"] ?? "").map { (90...100).contains($0) } == true)
                }
                try await connection.send(String(repeating: Fixture.get, count: 20))
                let refusals = Array(repeating: "429", count: 10) + ["429 close"]
                #expect(try await connection.responses().summary == refusals.joined(separator: " | "))
            }
            for (source, status) in [("127.0.0.2", 200), ("127.0.0.1", 429)] {
                let again = try await RawConnection.with(address, from: source) { try await $0.ask(Fixture.get) }
                #expect(again?.status == status, "each address has tokens, and no connection has")
            }
        }
        #expect(statistics.refusals(.rateLimit) == 17)
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
                    try await proxy.expect(status, to: get(for: client))
                }
            }
            try await RawConnection.with(address, from: "127.0.0.2") { liar in
                for (client, status) in [("198.51.100.8", 200), ("198.51.100.9", 429)] {
                    try await liar.expect(status, to: get(for: client))
                }
            }
        }
    }
}
