import Foundation
import NIOCore
import NIOEmbedded
import Synchronization
import Testing
import UpdatePolicy

@testable import CheckListener

/// What the connections of one event loop do together, on an event loop that the test runs.
@Suite("Response batch")
struct ResponseBatchTests {
    /// A clock that says how often it was read, which moves on by a microsecond each time.
    private final class CountingClock: Sendable {
        private let readings = Atomic(0)

        var count: Int { readings.load(ordering: .relaxed) }

        func read() -> Timestamp {
            let (reading, _) = readings.wrappingAdd(1, ordering: .relaxed)
            return Timestamp(microsecondsSince1970: 1_772_366_400_000_000 + Int64(reading))
        }
    }

    private let clock: CountingClock
    private let listener: EmbeddedListener

    init() throws {
        let clock = CountingClock()
        self.clock = clock
        listener = try EmbeddedListener(clock: { clock.read() })
    }

    private var eventLoop: EmbeddedEventLoop { listener.eventLoop }
    private var statistics: EventLoopStatistics { listener.statistics }

    private func connect() throws -> EmbeddedChannel {
        try listener.connect().channel
    }

    private func ask(_ channel: EmbeddedChannel, _ body: String = ListenerFixture.payload2013) throws {
        let request = "POST /v1/check HTTP/1.1\r\nHost: a\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
        try channel.writeInbound(ByteBuffer(string: request))
    }

    private func sent(by channel: EmbeddedChannel) throws -> String {
        try listener.sent(by: channel)
    }

    private var answeredCount: UInt64 {
        listener.statistics.requests.histograms.values.reduce(0) { $0 + $1.count }
    }

    @Test(
        "A batch sends the responses of all connections at its end, from one reading of the clock and one for their duration"
    )
    func responsesLeaveTogether() throws {
        let channels = try (0..<5).map { _ in try connect() }
        for tick in 1...3 {
            for channel in channels { try ask(channel) }
            for channel in channels { #expect(try sent(by: channel).isEmpty) }
            listener.eventLoop.run()
            for channel in channels {
                let response = try sent(by: channel)
                #expect(response.hasPrefix("HTTP/1.1 200 OK\r\n"))
                #expect(response.hasSuffix(ListenerFixture.answer))
            }
            #expect(clock.count == 2 * tick)
            #expect(answeredCount == UInt64(5 * tick))
        }
        let answeredChecks = try #require(listener.statistics.requests.histograms[.answeredCheck])
        #expect(answeredChecks.sum == 15 * 1_000)
    }

    @Test("A batch sends what it has when many responses wait for it")
    func manyConnections() throws {
        let channels = try (0..<100).map { _ in try connect() }
        for channel in channels { try ask(channel) }
        let early = try channels.filter { try !sent(by: $0).isEmpty }.count
        #expect(early == 64)
        #expect(answeredCount == 64)
        listener.eventLoop.run()
        let late = try channels.filter { try !sent(by: $0).isEmpty }.count
        #expect(late == 36)
        #expect(answeredCount == 100)
    }

    @Test("A batch does not let others wait for what a long pipeline was answered")
    func longPipeline() throws {
        let (channel, other) = (try connect(), try connect())
        try ask(other)
        let request = "GET /v1/check?bundle=com.example.doto&version=1.1 HTTP/1.1\r\nHost: a\r\n\r\n"
        try channel.writeInbound(ByteBuffer(string: String(repeating: request, count: 70)))
        #expect(try sent(by: channel).components(separatedBy: ListenerFixture.answer).count == 71)
        #expect(try sent(by: other).hasSuffix(ListenerFixture.answer))
        #expect(answeredCount == 71)
        listener.eventLoop.run()
    }

    @Test("A batch sends the last response before the connection ends")
    func lastResponse() throws {
        let channel = try connect()
        try ask(channel)
        channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        #expect(try sent(by: channel).hasSuffix(ListenerFixture.answer))
        #expect(answeredCount == 1)
        listener.eventLoop.run()
    }

    /// A socket that is full at the first write, which the connection is told within it.
    private final class FullAtFirst: ChannelOutboundHandler {
        typealias OutboundIn = ByteBuffer

        private var isFull = false

        func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
            context.write(data, promise: promise)
            guard !isFull, let channel = context.channel as? EmbeddedChannel else { return }
            isFull = true
            channel.isWritable = false
            context.pipeline.fireChannelWritabilityChanged()
        }
    }

    @Test(
        "A batch sends each response once, also where a connection is told in the middle that its client does not read"
    )
    func sendsOnce() throws {
        let (channel, other) = (try connect(), try connect())
        try channel.pipeline.syncOperations.addHandler(FullAtFirst(), position: .first)
        try ask(channel)
        try ask(other)
        try ask(channel, "{")
        listener.eventLoop.run()
        let statuses = try sent(by: channel).matches(of: #/HTTP\/1\.1 ([0-9]+) /#).map { String($0.output.1) }
        #expect(statuses == ["200", "400"])
    }

    @Test("A batch does without a connection that is gone")
    func goneConnection() throws {
        let (gone, other) = (try connect(), try connect())
        try ask(gone)
        try ask(other)
        gone.close(promise: nil)
        listener.eventLoop.run()
        #expect(try sent(by: other).hasSuffix(ListenerFixture.answer))
        #expect(answeredCount == 2)
    }

    @Test("A batch keeps pipelined answers in order, each with memory of its own until it is sent")
    func pipelinedAnswers() throws {
        let channel = try connect()
        try ask(channel)
        try ask(channel, #"{"bundle":"com.example.doto","version":"1.2"}"#)
        try ask(channel, "{")
        listener.eventLoop.run()
        let bodies = try sent(by: channel).components(separatedBy: "HTTP/1.1 ").dropFirst()
            .map { $0.components(separatedBy: "\r\n\r\n").last ?? "" }
        #expect(bodies.count == 3)
        #expect(bodies.first == ListenerFixture.answer)
        #expect(bodies.dropFirst().first == #"{"messages":[]}"#)
        #expect(bodies.last?.hasPrefix(#"{"type":"about:blank","title":"Bad Request""#) == true)
    }
}
