import NIOCore
import NIOEmbedded
import Testing
import UpdatePolicy

@testable import CheckListener

@Suite("Connection admission")
struct AdmissionTests {
    /// Counts what the listening socket is asked to accept.
    private final class AcceptCounter: ChannelOutboundHandler {
        typealias OutboundIn = Never

        var count = 0

        func read(context: ChannelHandlerContext) { count += 1 }
    }

    private let eventLoop = EmbeddedEventLoop()
    private let counter = AcceptCounter()
    private let socket: EmbeddedChannel

    init() throws {
        var limits = ConnectionLimits()
        limits.connections = 8
        let loops = EventLoopTable(eventLoop) { [limits] in EventLoopContext(testing: $0, limits: limits) }
        let admission = ConnectionAdmission(
            limits: limits, proxies: TrustedProxies(), statistics: ListenerStatistics(), loops: loops,
            eventLoops: [eventLoop]
        )
        socket = EmbeddedChannel(handlers: [counter, AdmissionHandler(admission)], loop: eventLoop)
        counter.count = 0
    }

    /// Accepts connections as swift-nio does: one, then it asks for more.
    private func accept(_ count: Int) throws {
        for _ in 0..<count {
            let connection: any Channel = EmbeddedChannel(loop: eventLoop)
            try socket.writeInbound(connection)
        }
        socket.read()
    }

    @Test(
        "Connections beyond the most there may be wait until those that were accepted had their time to send a request"
    )
    func wait() throws {
        for accepted in 1...7 {
            try accept(1)
            #expect(counter.count == accepted, "there is room")
        }
        eventLoop.advanceTime(by: .milliseconds(25))
        try accept(1)
        #expect(counter.count == 8, "all places are taken, but nobody came in this period")
        try accept(1)
        #expect(counter.count == 9, "less than a quarter of the places were taken in this period")
        try accept(1)
        #expect(counter.count == 9)
        eventLoop.advanceTime(by: .milliseconds(24))
        #expect(counter.count == 9)
        eventLoop.advanceTime(by: .milliseconds(1))
        #expect(counter.count == 10, "the next period begins")
    }
}
