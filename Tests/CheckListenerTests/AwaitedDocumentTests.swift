import Foundation
import NIOCore
import NIOEmbedded
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
        let finals = (0..<1_000).map { number in
            TestPolicy.rule("rule-\(number)") { ($0.versions, $0.final) = ("<0.\(number)", true) }
        }
        let lockout = TestPolicy.rule("lockout") { rule in
            (rule.versions, rule.lockout, rule.lockoutWithoutUpdate, rule.position) = ("<2", true, true, 1)
        }
        let rules = finals + [lockout]
        listener = try EmbeddedListener(CurrentPolicy(try TestPolicy.policy(rules)), documents: work)
    }

    @Test("A document that waits holds what comes after it on its connection, and nothing else")
    func holdsOrder() throws {
        let (connection, other) = (try listener.connect(), try listener.connect())
        try connection.receive(Self.feed + "\r\n" + Self.check + Self.feed)
        try connection.receive("\r\nnonsense\r\n\r\n")
        try other.receive(Self.check)
        #expect(try listener.statuses(connection).isEmpty)
        #expect(try listener.statuses(other) == [200])
        work.release()
        // The second one is at hand.
        #expect(try listener.statuses(connection) == [200, 200, 200, 400])
    }

    @Test(
        "A document that waits is sent to a client that has closed its side, or said that it is the last",
        arguments: ["\r\n", "Connection: close\r\n\r\n", "\r\n" + check]
    )
    func endsAfterIt(rest: String) throws {
        let connection = try listener.connect()
        try connection.receive(Self.feed + rest)
        connection.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        #expect(try listener.statuses(connection).isEmpty)
        #expect(connection.channel.isActive)
        work.release()
        #expect(try listener.statuses(connection) == (rest.contains("GET") ? [200, 200] : [200]))
        #expect(!connection.channel.isActive)
    }

    @Test("A document that is not made in time is refused as its client can bear, and the connection goes on")
    func isLate() throws {
        for (target, status, type) in [
            ("/v1/feeds/com.example.doto/updates.json", 503, "application/json"),
            ("/v1/feeds/com.example.doto/own", 503, "application/problem+json"),
            ("/v1/gate?bundle=com.example.doto&version=1.0", 204, nil),
        ] as [(String, Int, String?)] {
            let connection = try listener.connect()
            try connection.receive("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n" + Self.check)
            listener.eventLoop.advanceTime(by: .seconds(1))
            #expect(try connection.sent().isEmpty)
            listener.eventLoop.advanceTime(by: .seconds(2))
            let responses = try connection.responses()
            #expect(responses.map(\.status) == [status, 200], "\(target)")
            #expect(responses.first?.headers["content-type"] == type, "\(target)")
            #expect(responses.first?.headers["retry-after"] == (status == 503 ? "5" : nil), "\(target)")
            #expect(connection.channel.isActive)
        }
    }

    @Test("A document is made for the others when one of its clients is gone")
    func forgets() throws {
        let (gone, other) = (try listener.connect(), try listener.connect())
        for connection in [gone, other] { try connection.receive(Self.feed + "\r\n") }
        _ = try gone.channel.finish(acceptAlreadyClosed: true)
        work.release()
        #expect(try listener.statuses(other) == [200])
    }

    @Test("A document that waits when the server shuts down is sent before the connection ends")
    func shutsDown() throws {
        let connection = try listener.connect()
        try connection.receive(Self.feed + "\r\n")
        connection.handler.beginShutdown()
        listener.eventLoop.advanceTime(by: .seconds(1))
        #expect(connection.channel.isActive)
        work.release()
        #expect(try listener.statuses(connection) == [200])
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
}
