import NIOCore
import NIOEmbedded
import NIOSSL
import NIOTLS
import TestRandom
import Testing
import UpdatePolicy

@testable import CheckListener

/// One connection, to which the test says what happens.
@Suite("Connection")
struct ConnectionTests {
    private typealias Fixture = ListenerFixture

    private static let get = "GET /v1/check?bundle=com.example.doto&version=1.1 HTTP/1.1\r\nHost: a\r\n"
    private static let body = #"{"bundle":"com.example.doto"}"#
    private static let post = "POST /v1/check HTTP/1.1\r\nHost: a\r\nContent-Length: \(body.utf8.count)\r\n"

    /// Lets a connection end its output and go on, which a channel without a socket does not.
    private final class HalfCloser: ChannelOutboundHandler {
        typealias OutboundIn = ByteBuffer

        func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
            if mode == .output { promise?.succeed() } else { context.close(mode: mode, promise: promise) }
        }
    }

    private let work = LongWork(isHeld: true)
    private let listener: EmbeddedListener
    private let connection: EmbeddedListener.Connection

    init() throws {
        listener = try EmbeddedListener(documents: work)
        connection = try listener.connect()
        try connection.channel.pipeline.syncOperations.addHandler(HalfCloser(), position: .first)
    }

    private var channel: EmbeddedChannel { connection.channel }

    /// The responses since it was asked last.
    private func answers() throws -> String {
        listener.eventLoop.run()
        return try connection.responses().summary
    }

    private func endInput() { channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed) }

    // MARK: Ends

    @Test("A client that waits for it is told once to continue, however its body comes, and not if it speaks HTTP/1.0")
    func continues() throws {
        let head = Self.post.replacing("Host", with: "Expect: 100-continue\r\nHost")
        for piece in [head, "\r\n"] { try connection.receive(piece) }
        #expect(try answers() == "100")
        for byte in Self.body.dropLast() { try connection.receive(String(byte)) }
        #expect(try answers() == "")
        try connection.receive("}")
        #expect(try answers() == "200")
        try connection.receive(head.replacing("/1.1", with: "/1.0") + "\r\n" + Self.body)
        #expect(try answers() == "200 close")
    }

    @Test("The rest of a refused request is read over to a limit, and answered no more")
    func discards() throws {
        try connection.receive("POST /v1/check HTTP/1.1\r\nHost: a\r\nContent-Length: 999999999\r\n\r\n" + Self.get)
        #expect(try answers() == "413 close")
        let piece = ByteBuffer(repeating: 0x20, count: 1 << 20)
        for _ in 1..<8 { try channel.writeInbound(piece) }
        #expect(channel.isActive && !connection.handler.acceptsRequests)
        try channel.writeInbound(piece)
        #expect(!channel.isActive)
        #expect(try answers() == "")
        #expect(RefusalReason.allCases.allSatisfy { listener.statistics.refusals($0) == ($0 == .bodyBytes ? 1 : 0) })
    }

    @Test(
        "What comes behind the last response is thrown away, and the connection ends with its client, or after a while",
        arguments: [true, false]
    )
    func lingers(clientEnds: Bool) throws {
        try connection.receive(Self.get + "Connection: close\r\n\r\n" + Self.get + "\r\n")
        #expect(try answers() == "200 close")
        try connection.receive("nonsense\r\n\r\n")
        #expect(channel.isActive)
        if clientEnds { endInput() } else { listener.eventLoop.advanceTime(by: .seconds(6)) }
        #expect(!channel.isActive)
        #expect(try answers() == "")
    }

    @Test("A request that the client does not finish before it ends is refused, and what came before it is answered")
    func unfinished() throws {
        try connection.receive(Self.get + "\r\n" + Self.post + "\r\n{")
        endInput()
        #expect(try answers() == "200 | 400 close")
        #expect(!channel.isActive)
        #expect(listener.statistics.refusals(.malformedRequest) == 1)
    }

    @Test("A TLS handshake that fails is counted once, and what fails after it is not", arguments: [true, false])
    func handshake(succeeds: Bool) throws {
        if succeeds {
            channel.pipeline.fireUserInboundEventTriggered(TLSUserEvent.handshakeCompleted(negotiatedProtocol: nil))
        }
        for _ in 1...2 { channel.pipeline.fireErrorCaught(NIOSSLError.uncleanShutdown) }
        #expect(!channel.isActive)
        #expect(listener.statistics.refusals(.handshake) == (succeeds ? 0 : 1))
    }

    // MARK: Shutdown

    @Test("A shutdown ends an idle connection after a moment, in which it answers one more request")
    func shutdownOfIdle() throws {
        let other = try listener.connect()
        for connection in [connection, other] { connection.handler.beginShutdown() }
        try connection.receive(Self.get + "\r\n" + Self.get + "\r\n")
        #expect(try answers() == "200 close")
        #expect(other.channel.isActive)
        listener.eventLoop.advanceTime(by: .milliseconds(500))
        #expect(!other.channel.isActive)
    }

    @Test("A shutdown waits for a body that has begun, and not for ever", arguments: [true, false])
    func shutdownWithinARequest(finishes: Bool) throws {
        try connection.receive(Self.post + "\r\n{")
        connection.handler.beginShutdown()
        listener.eventLoop.advanceTime(by: .seconds(4))
        #expect(channel.isActive)
        if finishes { try connection.receive(String(Self.body.dropFirst())) }
        #expect(try answers() == (finishes ? "200 close" : ""))
        listener.eventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
    }

    // MARK: Any order

    @Test(
        "Each request is answered at most once and in order, whatever happens and when, and none after the last response"
    )
    func anyOrder() throws {
        var random = SeededGenerator()
        let seed = random.seed
        for _ in 0..<Trials.count(20_000) {
            let listener = try EmbeddedListener(documents: work)
            let connection = try listener.connect()
            var (sent, answered, hasEnded) = (0, 0, false)
            var unsent: [UInt8] = []
            for _ in 0..<Int.random(in: 1...40, using: &random) where connection.channel.isActive {
                switch Int.random(in: 0..<14, using: &random) {
                case 0..<4:
                    sent += 1
                    // What is refused says which one it was.
                    let target = random.pick(["/v1/check?m\(sent)=1&m\(sent)=1", "/v1/gate", "/lookup?id=\(sent)"])
                    let rest = random.pick(["", "", "", "Connection: close\r\n"])
                    unsent += Array("GET \(target) HTTP/1.1\r\nHost: a\r\n\(rest)\r\n".utf8)
                case 4..<9:
                    let count = random.chance(50) ? unsent.count : Int.random(in: 0...unsent.count, using: &random)
                    try connection.channel.writeInbound(ByteBuffer(bytes: unsent.prefix(count)))
                    unsent.removeFirst(count)
                case 9:
                    connection.channel.isWritable.toggle()
                    connection.channel.pipeline.fireChannelWritabilityChanged()
                case 10: work.release()
                case 11: listener.eventLoop.advanceTime(by: .milliseconds(random.pick([100, 1_000, 3_000])))
                case 12 where random.chance(20):
                    connection.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
                case 13 where random.chance(20):
                    connection.handler.beginShutdown()
                default: listener.eventLoop.run()
                }
                for response in try connection.responses() {
                    answered += 1
                    if hasEnded { Issue.record("a response behind the last one, seed \(seed)") }
                    if response.headers["connection"] == "close" { hasEnded = true }
                    if response.body.contains("appears twice") {
                        #expect(response.body.contains("`m\(answered)`"), "seed \(seed)")
                    }
                }
                if hasEnded { #expect(!connection.handler.acceptsRequests, "seed \(seed)") }
            }
            // One more for what takes too long to become a request.
            #expect(answered <= sent + 1, "seed \(seed)")
            work.release()
            _ = try? connection.channel.finish(acceptAlreadyClosed: true)
            listener.eventLoop.run()
        }
    }
}
