import Foundation
import NIOCore
import NIOEmbedded
import Testing
import UpdatePolicy

@testable import CheckListener

/// One connection or several on an event loop whose time the test moves, with a client that reads when the test says so.
@Suite("Waiting connections")
struct WaitingConnectionTests {
    private static let request = ListenerFixture.get

    private let listener: EmbeddedListener

    init() throws {
        listener = try EmbeddedListener()
    }

    private func setWritable(_ isWritable: Bool, _ connection: EmbeddedListener.Connection) {
        connection.channel.isWritable = isWritable
        connection.channel.pipeline.fireChannelWritabilityChanged()
    }

    // MARK: Clients that do not read

    @Test(
        "Connections that wait for their client to read keep requests unread, and answer all of them in the end",
        arguments: [false, true]
    )
    func holdRequests(clientEnds: Bool) throws {
        let connection = try listener.connect()
        setWritable(false, connection)
        let count = 2_500
        let bytes = Array(String(repeating: Self.request, count: count).utf8)
        for start in stride(from: 0, to: bytes.count, by: 16_384) {
            try connection.channel.writeInbound(ByteBuffer(bytes: bytes[start..<min(start + 16_384, bytes.count)]))
        }
        if clientEnds { connection.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed) }
        #expect(connection.handler.requestCount == 0)
        #expect(connection.channel.isActive)
        setWritable(true, connection)
        #expect(try listener.statuses(connection) == Array(repeating: 200, count: count))
        #expect(connection.handler.acceptsRequests != clientEnds)
        if !clientEnds {
            try connection.receive(Self.request)
            #expect(try listener.statuses(connection) == [200])
        }
    }

    @Test("Connections that wait within a request go on where it was, once their client reads")
    func holdPartsOfRequests() throws {
        let connection = try listener.connect()
        let request = ListenerFixture.post(ListenerFixture.payload2013)
        let bytes = Array((request + request).utf8)
        for length in 1..<bytes.count {
            try connection.channel.writeInbound(ByteBuffer(bytes: bytes[..<length]))
            setWritable(false, connection)
            try connection.channel.writeInbound(ByteBuffer(bytes: bytes[length...]))
            setWritable(true, connection)
            #expect(try listener.statuses(connection) == [200, 200], "cut after \(length) bytes")
        }
    }

    @Test("Connections that wait are ended when their client sends more than a receive buffer holds and reads nothing")
    func abandonsFloods() throws {
        let connection = try listener.connect()
        setWritable(false, connection)
        let flood = ByteBuffer(string: String(repeating: Self.request, count: 200))
        var sent = 0
        while connection.channel.isActive, sent < 2_000_000 {
            try connection.channel.writeInbound(flood)
            sent += flood.readableBytes
        }
        #expect(!connection.channel.isActive)
        #expect((262_144...300_000).contains(sent))
        #expect(connection.handler.requestCount == 0)
        #expect(listener.statistics.refusals(.unreadTimeout) == 1)
    }

    // MARK: Idle connections

    @Test(
        "Connections that wait for a request are evicted in the order of their last one, and those with a request under way never"
    )
    func evictsTheLongestIdle() throws {
        var idle = [try listener.connect(), try listener.connect(), try listener.connect()]
        let busy = try listener.connect()
        try busy.receive("GET / HTT")
        let silent = try listener.connect()
        // The last one asked first, the first one last; the silent one has not asked yet.
        for connection in idle.reversed() {
            listener.eventLoop.advanceTime(by: .seconds(1))
            try connection.receive(Self.request)
            listener.eventLoop.run()
        }
        idle = [silent] + idle.reversed()
        for next in idle.indices {
            #expect(idle.map(\.channel.isActive) == idle.indices.map { $0 >= next })
            #expect(listener.context.connections.evictLongestIdle())
        }
        #expect(!listener.context.connections.evictLongestIdle())
        #expect(busy.channel.isActive)
        #expect(listener.statistics.refusals(.evicted) == 4)
    }

    @Test("Connections that wait are not evicted if they have asked since they were looked for")
    func evictsByTheLatestState() throws {
        let all = try (0..<4).map { _ in
            listener.eventLoop.advanceTime(by: .seconds(1))
            return try listener.connect()
        }
        #expect(listener.context.connections.evictLongestIdle())
        listener.eventLoop.advanceTime(by: .seconds(1))
        try all[1].receive(Self.request)
        #expect(listener.context.connections.evictLongestIdle())
        #expect(all.map(\.channel.isActive) == [false, true, false, true])
        _ = try listener.statuses(all[1])
    }
}
