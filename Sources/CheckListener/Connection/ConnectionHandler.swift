import NIOCore
import NIOSSL
import NIOTLS
import UpdatePolicy

/// Reads the requests of one connection and answers them, one after the other.
///
/// It never awaits: a request is answered from the policy in memory within the event loop's tick in which it is whole, so
/// responses leave in the order of the requests. What is not whole, or cannot be answered yet, stays unread in one buffer: while
/// the client leaves its responses unread, and while an answer is made off the event loops.
final class ConnectionHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    /// How far the connection is.
    private enum Stage {
        /// Requests are read and answered.
        case reading
        /// A request waits for its answer; what comes after it stays unread.
        indirect case waiting(WaitingRequest)
        /// The last response is written; what still arrives is thrown away.
        case ending(discardedBytes: Int)
        case closed
    }

    /// A request that is answered later.
    private struct WaitingRequest {
        let number: Int
        let label: RequestLabel
        /// What the response says about the connection.
        let connection: ConnectionHeader
        /// When it arrived.
        let arrival: Timestamp
        let answer: LaterAnswer
    }

    /// How far the shutdown of the server is.
    private enum Shutdown {
        case none
        /// The response to the next request is the last one.
        case announced
        /// The connection ends when all that has arrived is answered.
        case due
    }

    /// How long an idle connection stays open during shutdown, so that a request already sent is answered.
    private static let shutdownGrace: TimeAmount = .milliseconds(500)
    /// How long a request that has begun may take during shutdown.
    private static let shutdownLimit: TimeAmount = .seconds(5)

    /// The most bytes that are kept of a client while its requests cannot be answered.
    ///
    /// Nothing is read from the socket then; but when the client has closed the connection, all that is left in the socket's
    /// receive buffer arrives at once.
    private static let maximumUnreadRequestBytes = 262_144
    /// The most bytes that are thrown away of a client to which the last response is written.
    ///
    /// A client that sends its whole request before it reads would otherwise see a reset instead of the answer.
    private static let maximumDiscardedBytes = 8 << 20
    /// How many requests in a row may be refused for asking too often; the last refusal ends the connection.
    private static let maximumRefusals = 16

    /// What the connection waits for.
    private(set) var phase = ConnectionPhase.head
    /// Until when it may do so.
    private(set) var deadline: ConnectionDeadline
    /// Where ``OpenConnections`` keeps this handler.
    var slot: Int?
    /// The place that the connection has among all, until its handler is removed; nil: they are not counted.
    private let place: ConnectionPlace?
    /// Where the responses go.
    let output: ConnectionOutput
    /// Whether the client has sent all it will send.
    private(set) var isInputClosed = false
    /// How many requests there were.
    private(set) var requestCount = 0

    private let loop: EventLoopContext
    /// Who is held to a rate; nil when nobody is.
    private let limitedClient: LimitedClient?
    private var context: ChannelHandlerContext?
    private var stage = Stage.reading
    private var reader: RequestReader
    /// What has arrived and is not read.
    private var unreadRequests = ByteBuffer()
    private var refusalsInARow = 0
    /// Whether the client leaves its responses unread.
    private var isUnread = false
    private var shutdown = Shutdown.none
    /// Whether a TLS handshake that fails is still to be counted: none has succeeded, or was counted.
    private var countsHandshake = true

    /// - Parameter isEncrypted: Whether TLS stands between this handler and the socket.
    init(loop: EventLoopContext, limitedClient: LimitedClient?, isEncrypted: Bool, place: ConnectionPlace? = nil) {
        self.loop = loop
        self.place = place
        self.limitedClient = limitedClient
        output = ConnectionOutput(loop.connections, isEncrypted: isEncrypted)
        reader = RequestReader(origins: loop.sources.origins, takesReleases: loop.sources.releases != nil)
        deadline = loop.connections.deadline(for: .head)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        output.open(context)
        loop.connections.add(self)
    }

    func channelInactive(context: ChannelHandlerContext) {
        output.closeSocket()
        unreadRequests = ByteBuffer()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        output.close()
        stage = .closed
        loop.connections.remove(self)
        place?.leave(on: loop)
        self.context = nil
    }

    // MARK: What the connection is

    /// Whether requests that arrive now are answered, or will be.
    var acceptsRequests: Bool {
        switch stage {
        case .reading, .waiting: true
        case .ending, .closed: false
        }
    }

    /// Whether no byte of a request has arrived since the last response.
    var isIdle: Bool { phase == .idle || phase == .head && unreadRequests.readableBytes == 0 }

    private var canRead: Bool {
        if case .reading = stage { !isUnread } else { false }
    }

    /// Begins the time of a phase, also where the connection was in it already.
    @inline(__always)
    private func enter(_ phase: ConnectionPhase) {
        self.phase = phase
        deadline = loop.connections.deadline(for: phase)
    }

    // MARK: Requests

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        if unreadRequests.readableBytes > 0 {
            swap(&bytes, &unreadRequests)
            bytes.discardReadBytes()
            bytes.writeImmutableBuffer(unreadRequests)
            unreadRequests = ByteBuffer()
        }
        read(bytes)
    }

    /// Reads and answers what can be answered now, and keeps the rest.
    private func read(_ bytes: consuming ByteBuffer) {
        let answered = bytes.withUnsafeReadableBytes { answerRequests($0) }
        bytes.moveReaderIndex(forwardBy: answered)
        let rest = bytes.readableBytes
        if rest > 0 || unreadRequests.readableBytes > 0 { unreadRequests = rest > 0 ? bytes : ByteBuffer() }
        if rest > 0 || isInputClosed || shutdown == .due { settle() }
    }

    private func readOn() {
        guard canRead else { return }
        var bytes = ByteBuffer()
        swap(&bytes, &unreadRequests)
        read(bytes)
    }

    /// - Returns: How many of the bytes need not be read again.
    private func answerRequests(_ bytes: UnsafeRawBufferPointer) -> Int {
        var position = 0
        while canRead {
            // Empty lines between requests are none; the reader has seen what it has begun to read.
            while position < bytes.count, bytes[position] == 0x0D || bytes[position] == 0x0A { position &+= 1 }
            guard position < bytes.count else { break }
            let rest = UnsafeRawBufferPointer(rebasing: bytes[position...])
            switch reader.read(rest) {
            case .request(let request):
                answer(request, rest)
                position &+= request.length
            case .waitsForContinue: loop.batch.writeContinue(for: output)
            case .incomplete:
                let phase: ConnectionPhase = reader.isInBody ? .body : .head
                if phase != self.phase { enter(phase) }
                return position
            case .malformed(let fault, let reason):
                refuse(fault, reason)
                return bytes.count
            }
        }
        return position
    }

    @inline(__always)
    private func answer(_ request: Request, _ bytes: UnsafeRawBufferPointer) {
        requestCount &+= 1
        var refusal: RequestFault?
        if let limitedClient { refusal = Self.refusal(of: request, bytes, limitedClient) }
        refusalsInARow = refusal == nil ? 0 : refusalsInARow &+ 1
        let connection = header(isHTTP11: request.isHTTP11, keepsConnection: request.keepsConnection)
        enter(.idle)
        if let refusal {
            loop.batch.write(.problem(refusal), connection, to: request.label, for: output)
        } else if let answer = loop.batch.answer(request, in: bytes, connection, for: output) {
            return wait(for: answer, connection, to: request.label)
        }
        if connection == .close { endOutput() }
    }

    @inline(never)
    private static func refusal(
        of request: Request,
        _ bytes: UnsafeRawBufferPointer,
        _ client: LimitedClient
    ) -> RequestFault? {
        client.refusal(forwardedFor: request.forwardedFor(in: bytes), document: request.withoutNews)
    }

    private func header(isHTTP11: Bool, keepsConnection: Bool) -> ConnectionHeader {
        let isLast =
            !keepsConnection || shutdown != .none || requestCount >= loop.limits.requestsPerConnection
            || refusalsInARow >= Self.maximumRefusals
        return isLast ? .close : isHTTP11 ? .implied : .keepAlive
    }

    /// Answers with a problem, and ends the output.
    private func refuse(_ fault: RequestFault, _ reason: RefusalReason?) {
        if let reason { loop.statistics.count(reason) }
        loop.batch.write(.problem(fault), .close, to: RequestLabel(), for: output)
        endOutput()
    }

    /// What follows from what was read, and from what is left of it.
    private func settle() {
        let rest = unreadRequests.readableBytes
        switch stage {
        case .reading where isUnread, .waiting:
            // The client has sent more than is kept while its requests cannot be answered.
            if rest > Self.maximumUnreadRequestBytes { close(.unreadTimeout) }
        case .reading:
            if isInputClosed, rest > 0 {
                refuse(.notHTTP("it ends in the middle"), .malformedRequest)
            } else if isInputClosed || shutdown == .due && rest == 0 {
                endOutput()
            }
        case .ending(let before):
            unreadRequests = ByteBuffer()
            stage = .ending(discardedBytes: before + rest)
            if before + rest > Self.maximumDiscardedBytes { close(nil) }
        case .closed: unreadRequests = ByteBuffer()
        }
    }

    // MARK: Answers that are made later

    private func wait(for answer: LaterAnswer, _ connection: ConnectionHeader, to request: RequestLabel) {
        guard let context else { return }
        let (eventLoop, number) = (context.eventLoop, requestCount)
        let handler = NIOLoopBound(self, eventLoop: eventLoop)
        stage = .waiting(
            WaitingRequest(
                number: number, label: request, connection: connection, arrival: loop.batch.time, answer: answer
            )
        )
        let isMade = answer.begin { response in
            eventLoop.execute { handler.value.received(response, to: number) }
        }
        guard isMade else {
            stage = .reading
            loop.batch.write(answer.ifLate, connection, to: request, for: output)
            if connection == .close { endOutput() }
            return
        }
        updateReading()
        enter(answer.phase)
    }

    private func received(_ response: Response, to number: Int) {
        guard case .waiting(let request) = stage, request.number == number else { return }
        stage = .reading
        loop.batch.write(
            response, request.connection, to: request.label, arrivedAt: request.arrival, for: output
        )
        updateReading()
        if request.connection == .close { return endOutput() }
        if !isUnread { enter(.idle) }
        readOn()
        loop.batch.send(output)
    }

    // MARK: What the channel tells

    func channelReadComplete(context: ChannelHandlerContext) {
        loop.batch.endIfFull()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        let isWritable = context.channel.isWritable
        updateReading()
        if isWritable == isUnread {
            isUnread = !isWritable
            if isWritable {
                // Not from within a write, which may be that of a request.
                context.eventLoop.assumeIsolated().execute { [self] in continueReading() }
            } else {
                enter(.unread)
                // Responses may only wait for the end of their batch.
                loop.batch.send(output)
            }
        }
        context.fireChannelWritabilityChanged()
    }

    /// The client reads its responses again.
    private func continueReading() {
        guard !isUnread else { return }
        switch stage {
        case .reading: enter(reader.isInBody ? .body : unreadRequests.readableBytes > 0 ? .head : .idle)
        case .waiting(let request): enter(request.answer.phase)
        case .ending, .closed: return
        }
        readOn()
        loop.batch.send(output)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        let isOfHandshake = countsHandshake && (error is NIOSSLError || error is BoringSSLError)
        if isOfHandshake { countsHandshake = false }
        close(isOfHandshake ? .handshake : nil)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // The end of the input comes on every connection; each cast costs as much as a part of a check.
        if let event = event as? ChannelEvent {
            if event == .inputClosed { inputClosed() }
        } else if case TLSUserEvent.handshakeCompleted = event {
            countsHandshake = false
        }
    }

    private func inputClosed() {
        isInputClosed = true
        switch stage {
        case .reading, .waiting: settle()
        case .ending where !output.isSent: break
        case .ending, .closed: close(nil)
        }
    }

    /// Makes the next response the last one, and ends the connection soon where none is to come.
    func beginShutdown() {
        guard let eventLoop = context?.eventLoop.assumeIsolated() else { return }
        shutdown = .announced
        eventLoop.scheduleTask(in: Self.shutdownGrace) { [self] in
            shutdown = .due
            if case .reading = stage, !reader.isInBody { close(nil, flushes: true) }
        }
        eventLoop.scheduleTask(in: Self.shutdownLimit) { [self] in close(nil, flushes: true) }
    }

    /// Reads from the socket unless the client leaves its responses unread, or a request waits for its answer.
    private func updateReading() {
        guard let channel = context?.channel else { return }
        let isWaiting = if case .waiting = stage { true } else { false }
        try? channel.syncOptions?.setOption(.autoRead, value: channel.isWritable && !isWaiting)
    }

    // MARK: What the event loop tells

    /// The connection has stayed in its phase for too long.
    func deadlineExpired() {
        if case .closed = stage { return }
        switch phase {
        case .document, .release:
            if case .waiting(let request) = stage { received(request.answer.ifLate, to: request.number) }
        case .unread: close(.unreadTimeout)
        case .lingering: close(nil)
        case .idle: close(.idleTimeout)
        case .head where unreadRequests.readableBytes == 0: close(.headerTimeout)
        case .head: refuse(.tookTooLong("head"), .headerTimeout)
        case .body: refuse(.tookTooLong("body"), .bodyTimeout)
        }
    }

    /// The connection must make room for another one.
    func evict() { close(.evicted, flushes: true) }

    /// Closes the connection because it keeps more unread responses than any other.
    func abandon() {
        output.abandon()
        close(.unreadBytes)
        output.closeTLS()
    }

    // MARK: The end

    /// Ends the output after what is written.
    ///
    /// Only once the client has that: where the client has ended its side, the channel makes this a whole close, which drops
    /// what it has not sent.
    private func endOutput() {
        // What was written may have made this the connection that keeps most.
        if case .closed = stage { return }
        stage = .ending(discardedBytes: 0)
        settle()
        enter(.lingering)
        loop.batch.send(output)
        if output.isSent { return outputSent() }
        output.whenSent { [self] in outputSent() }
        enter(.unread)
    }

    private func outputSent() {
        guard case .ending = stage else { return }
        if isInputClosed { return close(nil) }
        enter(.lingering)
        context?.close(mode: .output, promise: nil)
    }

    /// Closes the connection and counts why.
    ///
    /// - Parameter flushes: Whether what is written is sent before; what is not is lost.
    private func close(_ reason: RefusalReason?, flushes: Bool = false) {
        if case .closed = stage { return }
        stage = .closed
        unreadRequests = ByteBuffer()
        if let reason { loop.statistics.count(reason) }
        if flushes { loop.batch.send(output) }
        loop.connections.remove(self)
        context?.close(promise: nil)
    }
}

extension Request {
    /// What its client is sent in place of a problem, so that it survives being refused; nil where no update client asks.
    fileprivate var withoutNews: (contentType: String, bytes: [UInt8])? {
        if case .feed(let request) = route { request.withoutNews } else { nil }
    }
}
