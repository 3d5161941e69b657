// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import NIOCore
import NIOExtras
import NIOHTTP1
import NIOSSL
import NIOTLS

/// Tells the ``ConnectionState`` of one connection what happens, and carries out what it decides.
///
/// It never awaits: a check is answered from the policy in memory within the event loop's tick that completed the
/// request, so responses leave in the order of the requests, pipelined or not.
///
/// It is the only handler of the connection, or the first behind TLS, as long as requests are plain ones. The first that
/// is not brings the parser, which reads everything from then on.
final class ConnectionHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// How long an idle connection stays open during shutdown, so that a request already sent is answered.
    private static let shutdownGrace: TimeAmount = .milliseconds(500)

    /// How long a request that has begun may take during shutdown.
    private static let shutdownLimit: TimeAmount = .seconds(5)

    /// The state of the connection.
    private(set) var state: ConnectionState
    /// Until when the connection may stay in its phase.
    private(set) var deadline: ConnectionDeadline
    /// Where ``ConnectionTimeouts`` keeps this handler.
    var slot: Int?
    /// The address block that the connection counts for; nil when its address is not limited.
    var block: AddressBlock?

    private let loop: EventLoopContext
    private let limitedClient: LimitedClient?
    private var context: ChannelHandlerContext?
    /// The parser; it refers to this handler, until the connection is gone. nil while all requests were plain.
    private var decoder: RequestDecoder?
    /// Where in the batch the responses are that were not sent yet.
    private var unsent: Range<Int>?
    /// The request that waits for its document.
    private var awaited: AwaitedDocument?
    /// How many bytes of responses the channel keeps until the client reads.
    private(set) var unreadBytes = 0
    /// How many of them ``UnreadResponses`` knows of.
    private var reportedUnreadBytes = 0
    private var isAbandoned = false
    private var isOutputEnding = false
    /// Sends the responses.
    private(set) var sender: SocketSender

    /// Creates the handler of one connection.
    ///
    /// - Parameters:
    ///   - loop: What the connections of the same event loop share.
    ///   - limitedClient: Who is held to a rate; nil when nobody is.
    ///   - isEncrypted: Whether TLS stands between this handler and the socket.
    init(loop: EventLoopContext, limitedClient: LimitedClient?, isEncrypted: Bool) {
        self.loop = loop
        self.limitedClient = limitedClient
        sender = SocketSender(isEncrypted: isEncrypted)
        state = ConnectionState(limits: loop.limits)
        deadline = loop.timeouts.deadline(for: state.phase)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        loop.timeouts.add(self)
    }

    func channelInactive(context: ChannelHandlerContext) {
        sender.close()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        sender.close()
        stopAwaiting()
        loop.timeouts.remove(self)
        self.context = nil
        decoder = nil
    }

    // MARK: Plain requests

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard decoder == nil else { return context.fireChannelRead(data) }
        var bytes = unwrapInboundIn(data)
        let answered = bytes.withUnsafeReadableBytes { answerPlainRequests($0) }
        guard answered < bytes.readableBytes else { return }
        guard state.acceptsRequests else { return didDiscard(bytes.readableBytes - answered) }
        bytes.moveReaderIndex(forwardBy: answered)
        addParser()
        context.fireChannelRead(wrapInboundOut(bytes))
    }

    /// Answers the plain requests that some bytes begin with.
    ///
    /// - Returns: How many bytes they have.
    private func answerPlainRequests(_ bytes: UnsafeRawBufferPointer) -> Int {
        var position = 0
        while position < bytes.count, state.acceptsPlainRequests {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[position...])
            guard let request = ExpressRequest(rest, limits: loop.limits) else { break }
            if let limitedClient, let fault = limitedClient.refusal(forwardedFor: request.forwardedFor(in: rest)) {
                refuse(request, fault)
            } else {
                let connection = state.receivedPlainRequest(
                    isKeepAlive: request.isKeepAlive,
                    isTooOften: false
                )
                noteEnteredPhase()
                write { loop.batch.answer(request, in: rest, connection: connection) }
                if connection == .close { endOutput() }
            }
            position += request.length
            // The parser passes over empty lines between requests, too.
            while position < bytes.count, bytes[position] == 0x0D || bytes[position] == 0x0A { position += 1 }
        }
        return position
    }

    private func refuse(_ request: ExpressRequest, _ fault: RequestFault) {
        let connection = state.receivedPlainRequest(isKeepAlive: request.isKeepAlive, isTooOften: true)
        perform(
            .refuse(
                ConnectionState.RefusedRequest(
                    fault: fault,
                    route: request.kind,
                    method: request.method,
                    connection: connection,
                    endsOutput: connection == .close
                )
            )
        )
    }

    /// Whether the parser reads what arrives.
    var hasParser: Bool { decoder != nil }

    /// Lets the parser read what arrives from now on.
    func addParser() {
        guard let context else { return }
        let decoder = RequestDecoder(limits: loop.limits, connection: self)
        self.decoder = decoder
        do {
            try context.pipeline.syncOperations.addHandlers(
                [ByteToMessageHandler(decoder), ParsedRequestHandler(self)],
                position: .after(self)
            )
        } catch {
            // The connection has just been closed.
            context.close(promise: nil)
        }
    }

    // MARK: What the decoder tells

    /// Some bytes are about to be parsed; returns how many of them at once.
    func nextPiece(of bytes: UnsafeRawBufferPointer) throws(RequestFault) -> Int {
        try state.nextPiece(of: bytes)
    }

    /// A piece of bytes was parsed.
    func didParse() throws(RequestFault) {
        try state.didParse()
        noteEnteredPhase()
    }

    /// Bytes arrived after the last response and were discarded.
    func didDiscard(_ byteCount: Int) {
        perform(state.discarded(byteCount))
    }

    /// The client leaves its responses unread and has sent more than is held.
    func didHoldTooMuch() {
        perform(state.heldTooMuch())
    }

    /// A part of a request was parsed.
    func didParse(_ part: HTTPServerRequestPart) {
        perform(state.received(part, rateLimit: { rateFault(of: $0) }))
    }

    // MARK: What the channel tells

    func channelReadComplete(context: ChannelHandlerContext) {
        loop.batch.endIfFull()
        if hasParser { context.fireChannelReadComplete() }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        let isWritable = context.channel.isWritable
        readsFurther(isWritable && awaited == nil, context)
        perform(state.writabilityChanged(isWritable))
        context.fireChannelWritabilityChanged()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        failed(error)
    }

    /// Nothing more can be read.
    func failed(_ error: any Error) {
        var failure = ConnectionFailure(error)
        if case .request = failure, context?.channel.isActive != true { failure = .connection }
        perform(state.failed(failure))
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // The end of the input comes on every connection; each cast costs as much as a part of a check.
        if let event = event as? ChannelEvent {
            if event == .inputClosed, decoder == nil { inputClosed() }
        } else if event is ChannelShouldQuiesceEvent {
            beginShutdown(context.eventLoop)
        } else if case TLSUserEvent.handshakeCompleted = event {
            state.handshakeCompleted()
        }
        if decoder != nil { context.fireUserInboundEventTriggered(event) }
    }

    /// The client has sent all it will send, and the parser has seen that.
    func inputClosed() {
        perform(state.inputClosed(hasUnparsedBytes: hasUnparsedBytes))
    }

    private func beginShutdown(_ eventLoop: any EventLoop) {
        let eventLoop = eventLoop.assumeIsolated()
        eventLoop.scheduleTask(in: Self.shutdownLimit) { [self] in perform(state.shutdownLimitExpired()) }
        if state.beginShutdown() {
            eventLoop.scheduleTask(in: Self.shutdownGrace) { [self] in perform(state.shutdownGraceExpired()) }
        }
    }

    // MARK: What the event loop tells

    /// The connection has stayed in its phase for too long.
    func deadlineExpired() {
        perform(state.deadlineExpired())
    }

    /// The connection must make room for another one.
    func evict() {
        perform(state.evicted())
    }

    /// Sends what is written and was not sent yet.
    func flush() {
        guard let unsent, let context else { return }
        self.unsent = nil
        loop.batch.recordAnswered()
        send(unsent, context)
    }

    private func send(_ responses: Range<Int>, _ context: ChannelHandlerContext) {
        // Only then to the channel, which may call back for more.
        guard let rest = loop.batch.withBytes(responses, { sender.send($0, context) }) else { return }
        let count = rest.readableBytes
        unreadBytes += count
        context.writeAndFlush(wrapOutboundOut(rest)).assumeIsolated().whenComplete { [self] _ in
            unreadBytes -= count
            reportUnreadBytes()
            if unreadBytes == 0, isOutputEnding { finishOutput() }
        }
        reportUnreadBytes()
    }

    private func reportUnreadBytes() {
        let bytes = isAbandoned ? 0 : unreadBytes
        let change = bytes - reportedUnreadBytes
        reportedUnreadBytes = bytes
        if change != 0 { loop.unread.add(change) }
    }

    // MARK: Actions

    private func perform(_ action: consuming ConnectionState.Action) {
        noteEnteredPhase()
        switch action {
        case .none:
            break
        case .sendContinue:
            write { loop.batch.writeContinue() }
        case .answer(let request, let connection):
            var question: DocumentQuestion?
            write { question = loop.batch.answer(request, connection: connection) }
            if let question {
                awaitDocument(AwaitedDocument(request, question, connection, start: loop.batch.time))
            } else if connection == .close {
                endOutput()
            }
        case .refuse(let refusal):
            if let reason = refusal.reason { loop.statistics.refusals.increment(reason) }
            write { loop.batch.refuse(refusal) }
            if refusal.endsOutput { endOutput() }
        case .flush:
            flush()
        case .resume:
            resume()
        case .giveUpDocument:
            if let awaited { answer(awaited, awaited.question.late) }
        case .endOutput:
            endOutput()
        case .close(let reason):
            close(reason)
        case .flushAndClose(let reason):
            flush()
            close(reason)
        }
    }

    private func noteEnteredPhase() {
        if let phase = state.takeEnteredPhase() {
            deadline = loop.timeouts.deadline(for: phase)
        }
    }

    /// Answers what was held, until the client leaves its responses unread again.
    private func resume() {
        guard state.beginResuming(hasUnparsedBytes: hasUnparsedBytes) else { return }
        repeat {
            while let action = state.nextHeld(rateLimit: { rateFault(of: $0) }) { perform(action) }
            if !state.isWaiting { decoder?.parseHeldBytes() }
            // This can make the connection writable, so that the next ones are answered.
            flush()
        } while state.canResume(hasUnparsedBytes: hasUnparsedBytes)
        perform(state.endResuming())
    }

    private var hasUnparsedBytes: Bool { decoder?.hasUnparsedBytes == true }

    private func rateFault(of head: HTTPRequestHead) -> RequestFault? {
        limitedClient?.refusal(of: head)
    }

    /// Calls `body`, which writes a response into the batch.
    private func write(_ body: () -> Void) {
        let start = loop.batch.position
        body()
        let end = loop.batch.position
        guard let context, start < end else { return }
        if let unsent, unsent.upperBound == start {
            self.unsent = unsent.lowerBound..<end
        } else {
            let earlier = unsent
            unsent = start..<end
            // Where another connection has written in between; the channel may call back to send what comes after it.
            if let earlier { send(earlier, context) } else { loop.batch.flushAtEnd(self) }
        }
        if let unsent, unsent.count > loop.limits.bufferedBytes { flush() }
    }

    /// Ends the output after what is written.
    ///
    /// Only once the client has that: where the client has ended its side, the channel makes this a whole close, which drops
    /// what it has not sent.
    private func endOutput() {
        decoder?.dropHeldBytes()
        flush()
        guard !isOutputEnding else { return }
        if unreadBytes == 0 { return finishOutput() }
        isOutputEnding = true
        state.beginEndingOutput()
        noteEnteredPhase()
    }

    private func finishOutput() {
        isOutputEnding = false
        let action = state.finishOutput()
        if case .none = action { context?.close(mode: .output, promise: nil) }
        perform(action)
    }

    // MARK: Documents

    /// Holds what comes after a request until its document is made.
    private func awaitDocument(_ awaited: AwaitedDocument) {
        guard let context else { return }
        self.awaited = awaited
        state.beginAwaitingDocument()
        noteEnteredPhase()
        readsFurther(false, context)
        let eventLoop = context.eventLoop
        let waiting = NIOLoopBound((handler: self, awaited: awaited), eventLoop: eventLoop)
        awaited.ticket = loop.documents.ask(awaited.question) { answer, time in
            eventLoop.execute {
                let (handler, awaited) = waiting.value
                handler.loop.batch.keep(answer, to: awaited.question, madeAt: time)
                if handler.awaited === awaited { handler.answer(awaited, answer) }
            }
        }
        if awaited.ticket == nil { answer(awaited, awaited.question.late) }
    }

    /// Answers the request that waits, and then those that came after it.
    private func answer(_ awaited: AwaitedDocument, _ answer: MadeAnswer) {
        guard let context else { return }
        stopAwaiting()
        write { loop.batch.answer(awaited, with: answer) }
        readsFurther(context.channel.isWritable, context)
        perform(state.endAwaitingDocument())
    }

    private func stopAwaiting() {
        if let ticket = awaited?.ticket { loop.documents.withdraw(ticket) }
        awaited = nil
    }

    private func readsFurther(_ reads: Bool, _ context: ChannelHandlerContext) {
        try? context.channel.syncOptions?.setOption(.autoRead, value: reads)
    }

    // MARK: The end

    /// Closes the connection because it keeps more unread responses than any other.
    func abandon() {
        isAbandoned = true
        reportUnreadBytes()
        perform(state.heldMost())
        // TLS would wait for the client to take leave, and keep the responses until then.
        try? context?.pipeline.syncOperations.context(handlerType: NIOSSLServerHandler.self).close(promise: nil)
    }

    private func close(_ reason: RefusalReason?) {
        if let reason { loop.statistics.refusals.increment(reason) }
        decoder?.dropHeldBytes()
        loop.timeouts.remove(self)
        context?.close(promise: nil)
    }
}
