import NIOEmbedded
import TestRandom
import Testing

@testable import CheckListener

@Suite("Other origins")
struct AllowedOriginTests {
    @Test("Whatever a request says of its origin, its answer has an origin of the list or none, and no field more")
    func reflectsNothing() throws {
        let listed = ["https://app.example.com", "null"]
        let listener = try EmbeddedListener(origins: AllowedOrigins(parsing: listed.joined(separator: ",")))
        var random = SeededGenerator(seed: 1)
        let pieces =
            listed + [
                "\r", "\n", "\t", "\u{0}", "\u{7F}", "ü", " ", ",", "*", "X: y", String(repeating: "o", count: 16_000),
            ]
        var allowed = 0
        for round in 0..<2_000 {
            let value = (0...Int.random(in: 0..<4, using: &random)).map { _ in random.pick(pieces) }
            let method = round % 2 == 0 ? "GET" : "OPTIONS"
            let connection = try listener.connect()
            try connection.receive(
                "\(method) /v1/check?bundle=a HTTP/1.1\r\nHost: a\r\nOrigin: \(value.joined())\r\n\r\n"
            )
            listener.eventLoop.run()
            for response in try connection.responses() {
                let origin = response.headers["access-control-allow-origin"]
                #expect(origin.map(listed.contains) ?? true)
                #expect(response.headers["x"] == nil && response.headers["access-control-allow-credentials"] == nil)
                allowed += origin == nil ? 0 : 1
            }
            _ = try connection.channel.finish(acceptAlreadyClosed: true)
        }
        #expect(allowed > 100)
    }
}
