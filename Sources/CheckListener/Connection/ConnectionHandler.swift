import NIOCore
import NIOExtras
import NIOHTTP1
import NIOTLS
import UpdatePolicy

/// Tells the ``ConnectionState`` of one connection what happens, and carries out what it decides.
///
/// It never awaits: a check is answered from the policy in memory within the event loop's tick that completed the
/// request, so responses leave in the order of the requests, pipelined or not.
///
/// ``ExpressRequest`` reads plain requests. Any other goes to the parser, piece by piece, until it ends.
final class ConnectionHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    /// How long an idle connection stays open during shutdown, so that a request already sent is answered.
    private static let shutdownGrace: TimeAmount = .milliseconds(500)

    /// How long a request that has begun may take during shutdown.
    private static let shutdownLimit: TimeAmount = .seconds(5)

    /// The most bytes that are kept of a client that leaves its responses unread.
    ///
    /// While it does, nothing is read from the socket; but when the client has closed the connection, all that is left
    /// in the socket's receive buffer arrives at once.
    private static let maximumHeldBytes = 262_144

    /// The state of the connection.
    private(set) var state: ConnectionState
    /// Until when the connection may stay in its phase.
    private(set) var deadline: ConnectionDeadline
    /// Where ``ConnectionTimeouts`` keeps this handler.
    var slot: Int?
    /// What let the connection in, and knows the limits of its address; nil for none.
    var admission: ConnectionAdmission?
    /// Where the responses go.
    let output: ConnectionOutput

    private let loop: EventLoopContext
    private let limitedClient: LimitedClient?
    private var context: ChannelHandlerContext?
    private let readsPlainRequests: Bool
    /// The parser; nil while all requests were plain.
    private(set) var parser: RequestParser?
    /// The request that waits for its document.
    private var awaited: AwaitedDocument?
    /// Whether ``catchUp()`` is under way, which what it does may call for again.
    private var isCatchingUp = false

    /// Creates the handler of one connection.
    ///
    /// - Parameters:
    ///   - loop: What the connections of the same event loop share.
    ///   - limitedClient: Who is held to a rate; nil when nobody is.
    ///   - isEncrypted: Whether TLS stands between this handler and the socket.
    ///   - readsPlainRequests: Whether plain requests are read without the parser; in tests the parser may read all.
    init(
        loop: EventLoopContext,
        limitedClient: LimitedClient?,
        isEncrypted: Bool,
        readsPlainRequests: Bool = true
    ) {
        self.loop = loop
        self.limitedClient = limitedClient
        self.readsPlainRequests = readsPlainRequests
        output = ConnectionOutput(unread: loop.unread, isEncrypted: isEncrypted)
        state = ConnectionState(limits: loop.limits)
        deadline = loop.timeouts.deadline(for: state.phase)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        output.open(context)
        loop.timeouts.add(self)
    }

    func channelInactive(context: ChannelHandlerContext) {
        output.closeSocket()
        parser?.removeAll()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        output.close()
        stopAwaiting()
        loop.timeouts.remove(self)
        self.context = nil
        parser?.remove(from: context)
        parser = nil
    }

    // MARK: Plain requests

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        assert(parser?.byteCount ?? 0 == 0 || !state.acceptsPlainRequests, "bytes that would overtake others")
        if answerPlainRequests(&bytes), bytes.readableBytes == 0 { return }
        guard state.acceptsRequests else { return perform(state.discarded(bytes.readableBytes)) }
        parse(bytes)
    }

    /// Answers the plain requests that some bytes begin with, and removes them.
    ///
    /// - Returns: Whether there were any.
    @inline(__always)
    private func answerPlainRequests(_ bytes: inout ByteBuffer) -> Bool {
        let answered = bytes.withUnsafeReadableBytes { answerPlainRequests($0) }
        bytes.moveReaderIndex(forwardBy: answered)
        return answered > 0
    }

    private func answerPlainRequests(_ bytes: UnsafeRawBufferPointer) -> Int {
        var position = 0
        while position < bytes.count, readsPlainRequests, state.acceptsPlainRequests {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[position...])
            guard let request = ExpressRequest(rest, limits: loop.limits) else { break }
            let fault = limitedClient?.refusal(forwardedFor: request.forwardedFor(in: rest))
            let (connection, phase) = state.receivedPlainRequest(
                isKeepAlive: request.isKeepAlive,
                isTooOften: fault != nil
            )
            deadline = loop.timeouts.deadline(for: phase)
            let response: Response =
                if let fault {
                    .problem(fault)
                } else {
                    loop.responder.respond(to: request, in: rest, by: loop.batch.policy, at: loop.batch.time)
                }
            write(response, connection, to: request.label)
            if connection == .close { endOutput() }
            position += request.length
            // The parser passes over empty lines between requests, too.
            while position < bytes.count, bytes[position] == 0x0D || bytes[position] == 0x0A { position += 1 }
        }
        return position
    }

    // MARK: Parsed requests

    private func parse(_ bytes: ByteBuffer) {
        guard let parser = parser ?? addParser() else { return }
        parser.append(bytes)
        catchUp()
        if parser.byteCount > Self.maximumHeldBytes { perform(state.heldTooMuch()) }
    }

    private func addParser() -> RequestParser? {
        guard let context else { return nil }
        do {
            let parser = RequestParser(limits: loop.limits)
            try parser.add(to: context)
            self.parser = parser
            return parser
        } catch {
            // The connection has just been closed.
            context.close(promise: nil)
            return nil
        }
    }

    /// Answers, in order, what has arrived and is not answered, as long as anything can be.
    private func catchUp() {
        guard !isCatchingUp else { return }
        isCatchingUp = true
        while let context, state.acceptsRequests, !state.isWaiting {
            if let step = state.nextHeld(rateLimit: { limitedClient?.refusal(of: $0) }) {
                perform(step)
            } else if let parser, parser.hasUnparsedBytes {
                if !parser.lend(answerPlainRequests) { parsePiece(parser, context) }
            } else {
                break
            }
        }
        isCatchingUp = false
        if let parser, parser.hasFailed || !state.acceptsRequests {
            let count = parser.removeAll()
            if count > 0 { perform(state.discarded(count)) }
        }
        perform(state.caughtUp(hasUnparsedBytes: hasUnparsedBytes))
    }

    private func parsePiece(_ parser: RequestParser, _ context: ChannelHandlerContext) {
        let (parts, error) = parser.parse(context) { bytes throws(RequestFault) in
            let (length, phase) = try state.nextPiece(of: bytes)
            if let phase { deadline = loop.timeouts.deadline(for: phase) }
            return length
        }
        for part in parts { perform(state.received(part, rateLimit: { limitedClient?.refusal(of: $0) })) }
        if let error { return failed(state.meter.meaning(of: error)) }
        do throws(RequestFault) {
            try state.pieceEnded()
        } catch {
            parser.stop()
            failed(error)
        }
    }

    private var hasUnparsedBytes: Bool { parser?.hasUnparsedBytes == true }

    // MARK: What the channel tells

    func channelReadComplete(context: ChannelHandlerContext) {
        loop.batch.endIfFull()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        updateReading(context)
        perform(state.writabilityChanged(context.channel.isWritable))
        context.fireChannelWritabilityChanged()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        failed(error)
    }

    private func failed(_ error: any Error) {
        var failure = ConnectionFailure(error)
        if case .request = failure, context?.channel.isActive != true { failure = .connection }
        perform(state.failed(failure))
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // The end of the input comes on every connection; each cast costs as much as a part of a check.
        if let event = event as? ChannelEvent {
            if event == .inputClosed { inputClosed() }
        } else if event is ChannelShouldQuiesceEvent {
            beginShutdown(context.eventLoop.assumeIsolated())
        } else if case TLSUserEvent.handshakeCompleted = event {
            state.handshakeCompleted()
        }
    }

    private func inputClosed() {
        if let parser, !parser.hasFailed, state.acceptsRequests {
            parser.endInput()
            catchUp()
        }
        perform(state.inputClosed(hasUnparsedBytes: hasUnparsedBytes))
    }

    private func beginShutdown(_ eventLoop: NIOIsolatedEventLoop) {
        state.beginShutdown()
        eventLoop.scheduleTask(in: Self.shutdownGrace) { [self] in perform(state.shutdownGraceExpired()) }
        eventLoop.scheduleTask(in: Self.shutdownLimit) { [self] in perform(state.shutdownLimitExpired()) }
    }

    /// Reads from the socket unless the client leaves its responses unread, or a document is awaited.
    private func updateReading(_ context: ChannelHandlerContext) {
        try? context.channel.syncOptions?.setOption(.autoRead, value: context.channel.isWritable && awaited == nil)
    }

    // MARK: What the event loop tells

    /// The connection has stayed in its phase for too long.
    func deadlineExpired() {
        perform(state.deadlineExpired())
    }

    /// The address block that the connection counts for; nil when its address is not limited.
    var block: AddressBlock? {
        guard let context else { return nil }
        return admission?.limitedBlock(of: context.channel)
    }

    /// The connection must make room for another one.
    func evict() {
        perform(state.evicted())
    }

    /// Closes the connection because it keeps more unread responses than any other.
    func abandon() {
        output.abandon()
        perform(state.heldMost())
        output.closeTLS()
    }

    // MARK: Actions

    private func perform(_ step: consuming ConnectionState.Step) {
        if let phase = step.entered { deadline = loop.timeouts.deadline(for: phase) }
        switch step.action {
        case .none: break
        case .sendContinue: loop.batch.writeContinue(for: output)
        case .answer(let request, let connection): answer(request, connection)
        case .refuse(let refusal):
            if let reason = refusal.reason { loop.statistics.refusals.increment(reason) }
            write(.problem(refusal.fault), refusal.connection, to: refusal.request)
            if refusal.endsOutput { endOutput() }
        case .flush: loop.batch.send(output)
        case .resume:
            catchUp()
            loop.batch.send(output)
        case .giveUpDocument: giveUpDocument()
        case .endOutput: endOutput()
        case .closeOutput: context?.close(mode: .output, promise: nil)
        case .close(let reason): close(reason)
        case .flushAndClose(let reason):
            loop.batch.send(output)
            close(reason)
        }
    }

    private func answer(_ request: ParsedRequest, _ connection: ConnectionHeader) {
        switch loop.responder.respond(to: request, by: loop.batch.policy, at: loop.batch.time) {
        case .answered(let response):
            write(response, connection, to: request.label)
            if connection == .close { endOutput() }
        case .awaits(let question): awaitDocument(question, request.label, connection)
        }
    }

    private func write(
        _ response: Response,
        _ connection: ConnectionHeader,
        to request: RequestLabel,
        arrivedAt arrival: Timestamp? = nil
    ) {
        let waiting = loop.batch.write(
            response, answer: loop.responder.checks.answer.writer, connection, to: request, arrivedAt: arrival,
            for: output
        )
        if waiting > loop.limits.bufferedBytes { loop.batch.send(output) }
    }

    /// Ends the output after what is written.
    ///
    /// Only once the client has that: where the client has ended its side, the channel makes this a whole close, which drops
    /// what it has not sent.
    private func endOutput() {
        loop.batch.send(output)
        if output.isSent { return perform(state.outputSent()) }
        output.whenSent { [self] in perform(state.outputSent()) }
        perform(state.beginEndingOutput())
    }

    private func close(_ reason: RefusalReason?) {
        if let reason { loop.statistics.refusals.increment(reason) }
        parser?.removeAll()
        loop.timeouts.remove(self)
        context?.close(promise: nil)
    }

    // MARK: Documents

    /// Holds what comes after a request until its document is made.
    private func awaitDocument(_ question: DocumentQuestion, _ request: RequestLabel, _ connection: ConnectionHeader) {
        guard let context else { return }
        let eventLoop = context.eventLoop
        let handler = NIOLoopBound(self, eventLoop: eventLoop)
        let ticket = loop.documents.ask(question) { answer, time in
            eventLoop.execute { handler.value.received(answer, to: question, madeAt: time) }
        }
        guard let ticket else {
            write(DocumentResponder.response(with: question.late, to: question), connection, to: request)
            if connection == .close { endOutput() }
            return
        }
        awaited = AwaitedDocument(
            ticket: ticket, question: question, request: request, connection: connection, arrival: loop.batch.time
        )
        updateReading(context)
        perform(state.beginAwaitingDocument())
    }

    private func giveUpDocument() {
        if let awaited { answer(awaited, awaited.question.late) }
    }

    private func received(_ answer: MadeAnswer, to question: DocumentQuestion, madeAt time: Timestamp) {
        loop.responder.keep(answer, to: question, madeAt: time)
        if let awaited, awaited.question.key == question.key { self.answer(awaited, answer) }
    }

    /// Answers the request that waits, and then those that came after it.
    private func answer(_ awaited: AwaitedDocument, _ answer: MadeAnswer) {
        guard let context else { return }
        stopAwaiting()
        let response = DocumentResponder.response(with: answer, to: awaited.question)
        write(response, awaited.connection, to: awaited.request, arrivedAt: awaited.arrival)
        updateReading(context)
        perform(state.endAwaitingDocument())
    }

    private func stopAwaiting() {
        if let awaited { loop.documents.withdraw(awaited.ticket) }
        awaited = nil
    }
}
