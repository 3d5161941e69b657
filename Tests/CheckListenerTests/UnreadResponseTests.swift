import NIOCore
import NIOEmbedded
import Testing
import UpdatePolicy

@testable import CheckListener

@Suite("Unread responses")
struct UnreadResponseTests {
    /// A socket that takes nothing: it keeps what is written until it is closed.
    private final class FullSocket: ChannelOutboundHandler {
        typealias OutboundIn = ByteBuffer

        private var promises: [EventLoopPromise<Void>] = []

        func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
            if let promise { promises.append(promise) }
        }

        func handlerRemoved(context: ChannelHandlerContext) {
            for promise in promises { promise.fail(ChannelError.ioOnClosedChannel) }
            promises = []
        }

        /// Takes all that was written.
        func take() {
            for promise in promises { promise.succeed() }
            promises = []
        }
    }

    private let listener: EmbeddedListener
    private let answerSize: Int

    init() throws {
        let other = try EmbeddedListener()
        let connection = try other.connect()
        try connection.receive(ListenerFixture.get)
        other.eventLoop.run()
        answerSize = try connection.sent().utf8.count
        var limits = ConnectionLimits()
        limits.unreadBytes = 28 * answerSize
        listener = try EmbeddedListener(limits: limits)
    }

    private func connect() throws -> (connection: EmbeddedListener.Connection, socket: FullSocket) {
        let connection = try listener.connect()
        let socket = FullSocket()
        try connection.channel.pipeline.syncOperations.addHandler(socket, position: .first)
        return (connection, socket)
    }

    private func ask(_ connection: EmbeddedListener.Connection, times: Int) throws {
        try connection.receive(String(repeating: ListenerFixture.get, count: times))
        listener.eventLoop.run()
    }

    @Test("Of connections that together leave more unread than is kept, those that leave most are closed")
    func closesTheLargest() throws {
        let all = try (0..<6).map { _ in try connect() }
        for (number, (connection, _)) in all.enumerated() { try ask(connection, times: number == 2 ? 12 : 3) }
        #expect(all.map(\.connection.channel.isActive) == [true, true, true, true, true, true])
        try ask(all[0].connection, times: 3)
        #expect(all.map(\.connection.channel.isActive) == [true, true, false, true, true, true])
        #expect(listener.statistics.refusals(.unreadBytes) == 1)
        // What was closed counts no longer, and neither does what is read.
        for (_, socket) in all { socket.take() }
        try ask(all[1].connection, times: 20)
        #expect(all[1].connection.channel.isActive)
        #expect(all[1].connection.handler.output.unreadBytes == 20 * answerSize)
        #expect(all[0].connection.handler.output.unreadBytes == 0)
    }
}
