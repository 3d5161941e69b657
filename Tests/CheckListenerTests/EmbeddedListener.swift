import NIOCore
import NIOEmbedded
import TestPolicies
import Testing
import UpdatePolicy

@testable import CheckListener

/// Connections of one event loop that the test runs, without sockets.
struct EmbeddedListener {
    /// One connection.
    struct Connection {
        let channel: EmbeddedChannel
        let handler: ConnectionHandler

        /// Receives bytes.
        func receive(_ text: String) throws { try channel.writeInbound(ByteBuffer(string: text)) }

        /// What the channel has sent since it was asked last.
        func sent() throws -> String { String(buffer: try sentBytes()) }

        /// The responses that the channel has sent since it was asked last.
        func responses(toHead: Bool = false) throws -> [HTTPResponse] {
            var bytes = try sentBytes()
            var responses: [HTTPResponse] = []
            while let response = HTTPResponse(takenFrom: &bytes, toHead: toHead) { responses.append(response) }
            #expect(bytes.readableBytes == 0, "no response is cut")
            return responses
        }

        private func sentBytes() throws -> ByteBuffer {
            var sent = ByteBuffer()
            while var bytes = try channel.readOutbound(as: ByteBuffer.self) { sent.writeBuffer(&bytes) }
            return sent
        }
    }

    let eventLoop = EmbeddedEventLoop()
    let statistics = EventLoopStatistics()
    let context: EventLoopContext

    /// - Parameter policy: Without one, the policy of ``ListenerFixture``.
    init(
        _ policy: CurrentPolicy? = nil,
        recorder: CheckRecorder? = nil,
        limits: ConnectionLimits = ConnectionLimits(),
        documents: LongWork = LongWork(),
        lockoutKey: CurrentLockoutKey? = nil,
        origins: AllowedOrigins? = nil,
        releases: SentRelease.Recorder? = nil,
        clock: @escaping @Sendable () -> Timestamp = { TestPolicy.noon }
    ) throws {
        let sources = AnswerSources(
            policy: try policy ?? CurrentPolicy(ListenerFixture.policy()),
            documents: FeedDocuments(testing: documents, clock: clock),
            signatures: lockoutKey.map { LockoutSignatures($0) }, origins: origins, releases: releases,
            clock: clock
        )
        context = EventLoopContext(
            eventLoop: eventLoop, sources: sources, recorder: recorder, limits: limits, statistics: statistics
        )
    }

    /// Opens a connection.
    func connect(limitedClient: LimitedClient? = nil) throws -> Connection {
        let handler = ConnectionHandler(loop: context, limitedClient: limitedClient, isEncrypted: false)
        let channel = EmbeddedChannel(handler: handler, loop: eventLoop)
        try channel.connect(to: SocketAddress(ipAddress: "192.0.2.1", port: 80)).wait()
        return Connection(channel: channel, handler: handler)
    }

    /// The statuses of the responses that a connection has got since it was asked last.
    func statuses(_ connection: Connection) throws -> [Int] {
        eventLoop.run()
        return try connection.responses().map(\.status)
    }

    /// The response to a request, on a connection of its own unless one is given.
    func ask(_ request: String, on given: Connection? = nil) throws -> HTTPResponse {
        let connection = try given ?? connect()
        defer { if given == nil { _ = try? connection.channel.finish(acceptAlreadyClosed: true) } }
        try connection.receive(request)
        eventLoop.run()
        return try #require(try connection.responses(toHead: request.hasPrefix("HEAD")).first, "\(request)")
    }
}

extension FeedDocuments {
    /// Documents that are made when a test says so.
    convenience init(testing work: LongWork, clock: @escaping @Sendable () -> Timestamp) {
        self.init(later: LaterAnswers(timeout: .seconds(600), clock: clock, run: work.run))
    }
}

extension EventLoopContext {
    /// The context of an event loop on which time stands still, and nothing is counted.
    convenience init(
        testing eventLoop: any EventLoop,
        policy: CurrentPolicy = CurrentPolicy(),
        limits: ConnectionLimits = ConnectionLimits()
    ) {
        let clock: @Sendable () -> Timestamp = { TestPolicy.noon }
        let documents = FeedDocuments(testing: LongWork(), clock: clock)
        self.init(
            eventLoop: eventLoop, sources: AnswerSources(policy: policy, documents: documents, clock: clock),
            recorder: nil, limits: limits, statistics: EventLoopStatistics()
        )
    }
}
