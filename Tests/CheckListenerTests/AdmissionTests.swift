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
    private let context: EventLoopContext
    private let admission: ConnectionAdmission
    private let statistics = ListenerStatistics()

    init() throws {
        var limits = ConnectionLimits()
        limits.connections = 8
        context = EventLoopContext(testing: eventLoop, limits: limits)
        admission = ConnectionAdmission(
            limits: limits, proxies: TrustedProxies(), statistics: statistics, eventLoopCount: 1
        )
        socket = EmbeddedChannel(handlers: [counter, AdmissionHandler(admission)], loop: eventLoop)
        counter.count = 0
    }

    /// Accepts connections as swift-nio does: one, then it asks for more.
    private func accept(_ count: Int) throws {
        for _ in 0..<count {
            let connection: any Channel = EmbeddedChannel(loop: eventLoop)
            _ = admission.place(for: connection, on: context)
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

    @Test("An event loop has its share of the places, and one more connection comes in where one has gone or is idle")
    func shares() throws {
        var limits = ConnectionLimits()
        limits.connections = 3
        let admission = ConnectionAdmission(
            limits: limits, proxies: TrustedProxies(), statistics: statistics, eventLoopCount: 2
        )
        let places = (1...3).map { _ in admission.place(for: EmbeddedChannel(loop: eventLoop), on: context) }
        #expect(places.map { $0 != nil } == [true, true, false], "none is known to be idle")
        #expect(statistics.refusals(.connections) == 1)
        places[0]?.leave(on: context)
        #expect(statistics.openConnections == 1)
        let place = try #require(admission.place(for: EmbeddedChannel(loop: eventLoop), on: context))
        let idle = EmbeddedChannel(
            handler: ConnectionHandler(loop: context, limitedClient: nil, isEncrypted: false, place: place),
            loop: eventLoop
        )
        try idle.connect(to: SocketAddress(ipAddress: "192.0.2.1", port: 80)).wait()
        #expect(admission.place(for: EmbeddedChannel(loop: eventLoop), on: context) != nil)
        #expect(!idle.isActive)
        eventLoop.run()
        #expect(statistics.openConnections == 2)
    }
}
