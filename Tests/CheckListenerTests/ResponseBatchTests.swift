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

    private func ask(
        _ connection: EmbeddedListener.Connection,
        _ body: String = ListenerFixture.payload2013
    ) throws {
        try connection.receive(ListenerFixture.post(body))
    }

    private var answeredCount: UInt64 { listener.statistics.requests.values.reduce(0) { $0 + $1.count } }

    @Test(
        "A batch sends the responses of all connections at its end, from one reading of the clock and one for their duration"
    )
    func responsesLeaveTogether() throws {
        let connections = try (0..<5).map { _ in try listener.connect() }
        for tick in 1...3 {
            for connection in connections { try ask(connection) }
            for connection in connections { #expect(try connection.sent().isEmpty) }
            listener.eventLoop.run()
            for connection in connections {
                #expect(try connection.responses().map(\.body) == [ListenerFixture.answer])
            }
            #expect(clock.count == 2 * tick)
            #expect(answeredCount == UInt64(5 * tick))
        }
        let answeredChecks = try #require(listener.statistics.requests[.answeredCheck])
        #expect(answeredChecks.sum == 15 * 1_000)
    }

    @Test("Checks that were answered later are counted with those that were answered at once")
    func laterChecksCount() {
        let statistics = EventLoopStatistics()
        statistics.count(checks: 2, [], duration: 10)
        statistics.count(checks: 1, [.answeredCheck], duration: 20)
        #expect(statistics.requests[.answeredCheck]?.count == 4)
        #expect(statistics.requests[.answeredCheck]?.sum == 60)
    }

    @Test("A batch sends what it has when many responses wait for it")
    func manyConnections() throws {
        let connections = try (0..<100).map { _ in try listener.connect() }
        for connection in connections { try ask(connection) }
        let early = try connections.filter { try !$0.sent().isEmpty }.count
        #expect(early == 64)
        #expect(answeredCount == 64)
        listener.eventLoop.run()
        let late = try connections.filter { try !$0.sent().isEmpty }.count
        #expect(late == 36)
        #expect(answeredCount == 100)
    }

    @Test("A batch does not let others wait for what a long pipeline was answered")
    func longPipeline() throws {
        let (connection, other) = (try listener.connect(), try listener.connect())
        try ask(other)
        try connection.receive(String(repeating: ListenerFixture.get, count: 70))
        #expect(try connection.responses().map(\.body) == Array(repeating: ListenerFixture.answer, count: 70))
        #expect(try other.sent().hasSuffix(ListenerFixture.answer))
        #expect(answeredCount == 71)
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
        let (connection, other) = (try listener.connect(), try listener.connect())
        try connection.channel.pipeline.syncOperations.addHandler(FullAtFirst(), position: .first)
        try ask(connection)
        try ask(other)
        try ask(connection, "{")
        listener.eventLoop.run()
        #expect(try connection.responses().map(\.status) == [200, 400])
    }

    @Test("A batch does without a connection that is gone")
    func goneConnection() throws {
        let (gone, other) = (try listener.connect(), try listener.connect())
        try ask(gone)
        try ask(other)
        gone.channel.close(promise: nil)
        listener.eventLoop.run()
        #expect(try other.sent().hasSuffix(ListenerFixture.answer))
        #expect(answeredCount == 2)
    }
}
