import NIOCore
import NIOEmbedded
import UpdatePolicy

@testable import CheckListener

/// Connections of one event loop that the test runs, without sockets.
struct EmbeddedListener {
    /// One connection.
    struct Connection {
        let channel: EmbeddedChannel
        let handler: ConnectionHandler

        /// What the channel has sent since it was asked last.
        func sent() throws -> String { try EmbeddedListener.sent(by: channel) }
    }

    let eventLoop = EmbeddedEventLoop()
    let statistics = EventLoopStatistics()
    let context: EventLoopContext

    init(
        policy: CompiledPolicy? = nil,
        recorder: CheckRecorder? = nil,
        limits: ConnectionLimits = ConnectionLimits(),
        documents: LongWork = LongWork(),
        clock: @escaping @Sendable () -> Timestamp = { Timestamp(microsecondsSince1970: 1_772_366_400_000_000) }
    ) throws {
        self.init(
            CurrentPolicy(try policy ?? ListenerFixture.policy()), recorder: recorder, limits: limits,
            documents: documents, clock: clock
        )
    }

    init(
        _ policy: CurrentPolicy,
        recorder: CheckRecorder? = nil,
        limits: ConnectionLimits = ConnectionLimits(),
        documents: LongWork = LongWork(),
        lockoutKey: CurrentLockoutKey? = nil,
        clock: @escaping @Sendable () -> Timestamp = { Timestamp(microsecondsSince1970: 1_772_366_400_000_000) }
    ) {
        context = EventLoopContext(
            eventLoop: eventLoop, policy: policy, recorder: recorder, limits: limits, statistics: statistics,
            documents: DocumentMaker(clock: clock, run: documents.run), unreadBytes: limits.bufferedBytesOfAll,
            signatures: lockoutKey.map { LockoutSignatures($0) }, clock: clock
        )
    }

    /// Opens a connection.
    ///
    /// - Parameter isParsed: Whether the parser reads all requests, as if none were plain.
    func connect(isParsed: Bool = false, limitedClient: LimitedClient? = nil) throws -> Connection {
        let handler = ConnectionHandler(
            loop: context, limitedClient: limitedClient, isEncrypted: false, readsPlainRequests: !isParsed
        )
        let channel = EmbeddedChannel(handler: handler, loop: eventLoop)
        try channel.connect(to: SocketAddress(ipAddress: "192.0.2.1", port: 80)).wait()
        return Connection(channel: channel, handler: handler)
    }
    /// What a channel has sent since it was asked last.
    func sent(by channel: EmbeddedChannel) throws -> String { try Self.sent(by: channel) }

    private static func sent(by channel: EmbeddedChannel) throws -> String {
        var text = ""
        while let bytes = try channel.readOutbound(as: ByteBuffer.self) { text += String(buffer: bytes) }
        return text
    }
}

extension EventLoopContext {
    /// The context of an event loop on which time stands still, and nothing is counted.
    convenience init(
        testing eventLoop: any EventLoop,
        policy: CurrentPolicy = CurrentPolicy(),
        limits: ConnectionLimits = ConnectionLimits()
    ) {
        self.init(
            eventLoop: eventLoop,
            policy: policy,
            recorder: nil,
            limits: limits,
            statistics: EventLoopStatistics(),
            documents: DocumentMaker(
                clock: { Timestamp(microsecondsSince1970: 1_772_366_400_000_000) },
                run: LongWork().run
            ),
            unreadBytes: limits.bufferedBytesOfAll,
            clock: { Timestamp(microsecondsSince1970: 1_772_366_400_000_000) }
        )
    }
}
