import Foundation
import NIOCore
import NIOEmbedded
import NIOExtras
import TestPolicies
import TestRandom
import TestSystem
import Testing
import UpdatePolicy

@testable import CheckListener

/// Connections of one event loop, and documents that are made when the test says so.
@Suite("Awaited documents")
struct AwaitedDocumentTests {
    private static let feed = "GET /v1/feeds/com.example.doto/updates.json HTTP/1.1\r\nHost: a\r\n"
    private static let check = "GET /v1/check?bundle=com.example.doto HTTP/1.1\r\nHost: a\r\n\r\n"

    private let work = LongWork(isHeld: true)
    private let listener: EmbeddedListener

    init() throws {
        // More final rules before a lockout than an event loop looks through.
        let finals = (0..<400).map { number in
            TestPolicy.rule("rule-\(number)") { ($0.versions, $0.final) = ("<0.\(number)", true) }
        }
        let lockout = TestPolicy.rule("lockout") { rule in
            (rule.versions, rule.lockout, rule.lockoutWithoutUpdate, rule.position) = ("<2", true, true, 1)
        }
        let rules = finals + [lockout]
        listener = try EmbeddedListener(policy: try TestPolicy.policy(rules), documents: work)
    }

    /// The status lines and problems that a connection has got.
    private func statuses(_ connection: EmbeddedListener.Connection) throws -> [String] {
        listener.eventLoop.run()
        return try connection.sent().matches(of: #/HTTP/1\.1 ([0-9]+) /#).map { String($0.output.1) }
    }

    @Test("A document that waits holds what comes after it on its connection, and nothing else")
    func holdsOrder() throws {
        let (connection, other) = (try listener.connect(), try listener.connect())
        try connection.channel.writeInbound(ByteBuffer(string: Self.feed + "\r\n" + Self.check + Self.feed))
        try connection.channel.writeInbound(ByteBuffer(string: "\r\nnonsense\r\n\r\n"))
        try other.channel.writeInbound(ByteBuffer(string: Self.check))
        #expect(try statuses(connection).isEmpty)
        #expect(try statuses(other) == ["200"])
        work.release()
        // The second one is at hand.
        #expect(try statuses(connection) == ["200", "200", "200", "400"])
    }

    @Test(
        "A document that waits is sent to a client that has closed its side, or said that it is the last",
        arguments: ["\r\n", "Connection: close\r\n\r\n", "\r\n" + check]
    )
    func endsAfterIt(rest: String) throws {
        let connection = try listener.connect()
        try connection.channel.writeInbound(ByteBuffer(string: Self.feed + rest))
        connection.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        #expect(try statuses(connection).isEmpty)
        #expect(connection.channel.isActive)
        work.release()
        #expect(try statuses(connection) == (rest.contains("GET") ? ["200", "200"] : ["200"]))
        #expect(!connection.channel.isActive)
    }

    @Test("A document that is not made in time is refused as its client can bear, and the connection goes on")
    func isLate() throws {
        for (request, status, document) in [
            (Self.feed, "503", "{"),
            ("GET /v1/feeds/com.example.doto/own HTTP/1.1\r\nHost: a\r\n", "503", "problem+json"),
            ("GET /v1/gate?bundle=com.example.doto&version=1.0 HTTP/1.1\r\nHost: a\r\n", "204", ""),
        ] {
            let connection = try listener.connect()
            try connection.channel.writeInbound(ByteBuffer(string: request + "\r\n" + Self.check))
            listener.eventLoop.advanceTime(by: .seconds(1))
            #expect(try connection.sent().isEmpty)
            listener.eventLoop.advanceTime(by: .seconds(2))
            let sent = try connection.sent()
            #expect(sent.hasPrefix("HTTP/1.1 \(status) "), "\(sent)")
            #expect(sent.contains("Retry-After: 5\r\n") == (status == "503"))
            #expect(document.isEmpty || sent.contains(document))
            #expect(sent.components(separatedBy: "HTTP/1.1 200 OK").count == 2)
            #expect(connection.channel.isActive)
        }
        #expect(listener.statistics.problems[.unavailable] == 2)
    }

    @Test("A document that cannot wait any more is refused at once")
    func isRefused() throws {
        for number in 0..<DocumentMaker.maximumWaiting {
            let target = "/v1/feeds/com.example.doto/updates.json?a=\(number)"
            try listener.connect().channel.writeInbound(ByteBuffer(string: "GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n"))
        }
        let connection = try listener.connect()
        try connection.channel.writeInbound(ByteBuffer(string: Self.feed + "\r\n" + Self.check))
        #expect(try statuses(connection) == ["503", "200"])
    }

    @Test("A document is made for the others when one of its clients is gone")
    func forgets() throws {
        let (gone, other) = (try listener.connect(), try listener.connect())
        for connection in [gone, other] { try connection.channel.writeInbound(ByteBuffer(string: Self.feed + "\r\n")) }
        _ = try gone.channel.finish(acceptAlreadyClosed: true)
        work.release()
        #expect(try statuses(other) == ["200"])
    }

    @Test("A document that waits when the server shuts down is sent before the connection ends")
    func shutsDown() throws {
        let connection = try listener.connect()
        try connection.channel.writeInbound(ByteBuffer(string: Self.feed + "\r\n"))
        connection.channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        listener.eventLoop.advanceTime(by: .seconds(1))
        #expect(connection.channel.isActive)
        work.release()
        #expect(try statuses(connection) == ["200"])
        #expect(!connection.channel.isActive)
    }

    @Test("Checks on other connections are answered while a document of a hostile policy is made")
    func keepsNobodyWaiting() async throws {
        let rules = (1...(Trials.areLong ? 1_000 : 100)).map { number in
            TestPolicy.rule("rule-\(number)") { rule in
                rule.versions = String(repeating: "<0.1||", count: 1_600) + "<1.2.3.\(number)"
            }
        }
        let policy = CurrentPolicy(try TestPolicy.policy(rules, releases: [TestPolicy.release("9.0")]))
        let work = LongWork(isHeld: true)
        try await ListenerFixture.run(policy: policy, longWork: work) { address in
            let client = try BlockingClient(address)
            client.send("\(Self.feed)\r\n".utf8)
            try await Poll.until("a document that is to be made") { work.isWaited }
            // Some of them on the event loop of the first.
            for _ in 0..<16 {
                let other = try BlockingClient(address)
                other.send(Self.check.utf8)
                #expect(try other.read(15).elementsEqual("HTTP/1.1 200 OK".utf8))
            }
            work.release()
            #expect(try client.read(15).elementsEqual("HTTP/1.1 200 OK".utf8))
        }
    }

    @Test("A gate with more rules than an event loop looks through is judged elsewhere, and closes for a lockout")
    func judgesGates() throws {
        let connection = try listener.connect()
        let gate = "GET /v1/gate?bundle=com.example.doto&version=1.0 HTTP/1.1\r\nHost: a\r\n\r\n"
        try connection.channel.writeInbound(ByteBuffer(string: gate))
        #expect(try statuses(connection).isEmpty)
        work.release()
        #expect(try statuses(connection) == ["403"])
        // Who is not locked out at all is let through at once.
        try connection.channel.writeInbound(ByteBuffer(string: gate.replacing("version=1.0", with: "version=2.0")))
        #expect(try statuses(connection) == ["204"])
    }
}
