import Foundation
import NIOCore
import NIOEmbedded
import Testing
import UpdatePolicy

@testable import CheckListener

/// One connection or several on an event loop whose time the test moves, with a client that reads when the test says so.
@Suite("Waiting connections")
struct WaitingConnectionTests {
    private static let request = "GET /v1/check?bundle=com.example.doto&version=1.1 HTTP/1.1\r\nHost: a\r\n\r\n"

    private let listener: EmbeddedListener

    init() throws {
        listener = try EmbeddedListener()
    }

    private var eventLoop: EmbeddedEventLoop { listener.eventLoop }
    private var statistics: EventLoopStatistics { listener.statistics }
    private var context: EventLoopContext { listener.context }

    private func connect() throws -> (channel: EmbeddedChannel, handler: ConnectionHandler) {
        let connection = try listener.connect()
        return (connection.channel, connection.handler)
    }

    private func setWritable(_ isWritable: Bool, _ channel: EmbeddedChannel) {
        channel.isWritable = isWritable
        channel.pipeline.fireChannelWritabilityChanged()
    }

    /// How many requests were answered with a status, on the channel since it was asked last.
    private func answers(_ status: String, on channel: EmbeddedChannel) throws -> Int {
        eventLoop.run()
        return try listener.sent(by: channel).components(separatedBy: "HTTP/1.1 \(status) ").count - 1
    }

    // MARK: Clients that do not read

    @Test(
        "Connections that wait for their client to read keep requests unparsed, and answer all of them in the end",
        arguments: [false, true]
    )
    func holdRequests(clientEnds: Bool) throws {
        let (channel, handler) = try connect()
        setWritable(false, channel)
        let count = 2_500
        let bytes = Array(String(repeating: Self.request, count: count).utf8)
        for start in stride(from: 0, to: bytes.count, by: 16_384) {
            try channel.writeInbound(ByteBuffer(bytes: bytes[start..<min(start + 16_384, bytes.count)]))
        }
        if clientEnds { channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed) }
        #expect(handler.state.meter.headCount == 0)
        #expect(channel.isActive)
        setWritable(true, channel)
        #expect(try answers("200", on: channel) == count)
        #expect(handler.state.acceptsRequests != clientEnds)
        if !clientEnds {
            try channel.writeInbound(ByteBuffer(string: Self.request))
            #expect(try answers("200", on: channel) == 1)
        }
    }

    @Test("Connections that wait within a request go on where it was, once their client reads")
    func holdPartsOfRequests() throws {
        let (channel, _) = try connect()
        let request = ListenerFixture.post(ListenerFixture.payload2013)
        let bytes = Array((request + request).utf8)
        for length in 1..<bytes.count {
            try channel.writeInbound(ByteBuffer(bytes: bytes[..<length]))
            setWritable(false, channel)
            try channel.writeInbound(ByteBuffer(bytes: bytes[length...]))
            setWritable(true, channel)
            #expect(try answers("200", on: channel) == 2, "cut after \(length) bytes")
        }
    }

    @Test("Connections that wait answer what came before bytes that are no request, and then refuse those")
    func holdFaults() throws {
        let (channel, _) = try connect()
        setWritable(false, channel)
        try channel.writeInbound(ByteBuffer(string: Self.request + Self.request + "nonsense\r\n\r\n" + Self.request))
        setWritable(true, channel)
        eventLoop.run()
        let statuses = try listener.sent(by: channel).matches(of: #/HTTP/1\.1 ([0-9]+) /#).map { $0.output.1 }
        #expect(statuses == ["200", "200", "400"])
    }

    @Test("Connections that wait are ended when their client sends more than a receive buffer holds and reads nothing")
    func abandonsFloods() throws {
        let (channel, handler) = try connect()
        setWritable(false, channel)
        let flood = ByteBuffer(string: String(repeating: Self.request, count: 200))
        var sent = 0
        while channel.isActive, sent < 2_000_000 {
            try channel.writeInbound(flood)
            sent += flood.readableBytes
        }
        #expect(!channel.isActive)
        #expect((262_144...300_000).contains(sent))
        #expect(handler.state.meter.headCount == 0)
        #expect(statistics.refusals[.unreadTimeout] == 1)
    }

    @Test("Connections that wait forget what they kept when their client is gone")
    func forgets() throws {
        let (channel, handler) = try connect()
        setWritable(false, channel)
        try channel.writeInbound(ByteBuffer(string: String(repeating: Self.request, count: 100)))
        _ = try channel.finish(acceptAlreadyClosed: true)
        #expect(handler.state.meter.headCount == 0)
        #expect(handler.parser == nil)
    }

    // MARK: Idle connections

    @Test(
        "Connections that wait for a request are evicted in the order of their last one, and those with a request under way never"
    )
    func evictsTheLongestIdle() throws {
        var idle = [try connect(), try connect(), try connect()]
        let busy = try connect()
        try busy.channel.writeInbound(ByteBuffer(string: "GET / HTT"))
        let silent = try connect()
        // The last one asked first, the first one last; the silent one has not asked yet.
        for connection in idle.reversed() {
            eventLoop.advanceTime(by: .seconds(1))
            try connection.channel.writeInbound(ByteBuffer(string: Self.request))
            eventLoop.run()
        }
        idle = [silent] + idle.reversed()
        for next in idle.indices {
            #expect(idle.map(\.channel.isActive) == idle.indices.map { $0 >= next })
            #expect(context.timeouts.evictLongestIdle(first: { [] }))
        }
        #expect(!context.timeouts.evictLongestIdle(first: { [] }))
        #expect(busy.channel.isActive)
        #expect(statistics.refusals[.evicted] == 4)
    }

    @Test("Connections that wait are idle after a request whose body came by itself, and end without a response")
    func isIdleAfterASplitRequest() throws {
        let (channel, handler) = try connect()
        let body = ListenerFixture.payload2013
        let request = ListenerFixture.post(body)
        try channel.writeInbound(ByteBuffer(string: String(request.dropLast(body.count))))
        try channel.writeInbound(ByteBuffer(string: body))
        #expect(try answers("200", on: channel) == 1)
        #expect(handler.state.isIdle)
        eventLoop.advanceTime(by: .seconds(30))
        #expect(channel.isActive)
        #expect(try answers("408", on: channel) == 0)
        eventLoop.advanceTime(by: .seconds(60))
        #expect(!channel.isActive)
        #expect(statistics.refusals[.idleTimeout] == 1)
    }

    @Test("Connections that wait are not evicted if they have asked since they were looked for")
    func evictsByTheLatestState() throws {
        let all = try (0..<4).map { _ in
            eventLoop.advanceTime(by: .seconds(1))
            return try connect()
        }
        #expect(context.timeouts.evictLongestIdle(first: { [] }))
        eventLoop.advanceTime(by: .seconds(1))
        try all[1].channel.writeInbound(ByteBuffer(string: Self.request))
        #expect(context.timeouts.evictLongestIdle(first: { [] }))
        #expect(all.map(\.channel.isActive) == [false, true, false, true])
        _ = try answers("200", on: all[1].channel)
    }
}
