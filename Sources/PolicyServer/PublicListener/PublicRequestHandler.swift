// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import NIOCore
import NIOExtras
import NIOHTTP1
import NIOSSL
import NIOTLS
import UpdatePolicy

/// Answers the requests of one connection to the public listener, each before the next is looked at.
///
/// It never awaits: a check is answered from the policy in memory within the event loop's turn that completed the
/// request, so responses leave in the order of the requests, pipelined or not.
final class PublicRequestHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = ByteBuffer

    /// What the handler is in the middle of.
    private enum State {
        /// Between two requests.
        case idle
        /// A request whose head was accepted is arriving.
        case receiving(PublicRequest)
        /// A request that is answered already is still arriving; so many more bytes of it are thrown away.
        case discarding(remaining: Int)
        /// The last response is written; what still comes is thrown away.
        case closing

        /// The state, which is idle from now on; so the request in it has one owner, and is changed without a copy.
        mutating func take() -> State {
            var state = State.idle
            swap(&state, &self)
            return state
        }
    }

    /// The most bytes of a refused request that are read before the connection is cut.
    ///
    /// A client that sends its whole request before it reads would otherwise see a reset instead of the answer.
    private static let maximumDiscardedBytes = 8 << 20

    /// How many requests in a row a connection may be refused for asking too often; the last refusal ends it.
    private static let maximumRateRefusals = 16

    /// How long an idle connection is kept when the server shuts down, so that a request already on its way is answered.
    private static let shutdownGrace: TimeAmount = .milliseconds(500)

    /// How long a request that is under way when the server shuts down may still take.
    private static let shutdownLimit: TimeAmount = .seconds(5)

    private let policy: LivePolicy
    private let recorder: CheckRecorder?
    private let limits: ConnectionLimits
    private let connections: LoopConnections
    private let turn: EventLoopTurn
    private let limitedClient: LimitedClient?
    private var context: ChannelHandlerContext?
    private var state = State.idle
    /// The last answer to a check, whose memory the next one uses.
    private var answer = ByteBuffer()
    private var isShuttingDown = false
    private var hasUnflushedWrites = false
    /// The refusal of the request that is arriving, if its client asks too often.
    private var rateFault: RequestFault?
    /// What was parsed already and waits until the client reads its responses.
    private var heldParts = CircularBuffer<HTTPServerRequestPart>()
    /// Why nothing after the held parts could be parsed.
    private var heldError: (any Error)?
    private var isAnsweringHeldRequests = false
    private var endsAfterHeldRequests = false
    private var discardedBytes = 0
    /// How many requests in a row were refused for asking too often.
    private var rateRefusals = 0
    /// Whether the TLS handshake, if there is one, has succeeded or was counted as failed.
    private var isHandshakeDone = false
    /// The parser of this connection, which has this handler in turn until the connection is gone.
    var decoder: PublicRequestDecoder?
    /// Whether the client leaves its responses unread.
    private(set) var isUnread = false

    /// Until when the connection may stay as it is.
    private(set) var deadline: ConnectionDeadline
    /// Where ``LoopConnections`` keeps this handler.
    var slot: Int?
    /// How many heads have arrived.
    private(set) var headCount = 0
    private var answeredCount = 0
    /// How many bytes of content of the last request have arrived.
    private(set) var contentBytes = 0
    /// Whether the bytes that arrive next begin a request, or go on with a head that has begun.
    private(set) var isBetweenRequests = true
    private var hasHeadBegun = false

    /// Creates the handler of one connection.
    ///
    /// - Parameters:
    ///   - policy: What answers.
    ///   - recorder: Counts the checks; nil: they are not counted.
    ///   - limits: What the connection may take.
    ///   - connections: The connections of the same event loop.
    ///   - limitedClient: Who is held to a rate; nil when nobody is.
    /// The address that the connection counts for; nil when its address is not limited.
    var block: AddressBlock?

    init(
        policy: LivePolicy,
        recorder: CheckRecorder?,
        limits: ConnectionLimits,
        connections: LoopConnections,
        limitedClient: LimitedClient?
    ) {
        self.policy = policy
        self.recorder = recorder
        self.limits = limits
        self.connections = connections
        turn = connections.turn
        self.limitedClient = limitedClient
        deadline = connections.deadline(for: .head)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        connections.add(self)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        connections.remove(self)
        self.context = nil
        decoder = nil
    }

    // MARK: What the decoder asks and tells

    /// Whether requests that arrive now are answered.
    var acceptsRequests: Bool {
        if case .closing = state { false } else { true }
    }

    /// Whether requests that arrive now wait for the answers of others.
    var isHoldingRequests: Bool {
        isUnread || isAnsweringHeldRequests || !heldParts.isEmpty || heldError != nil
    }

    /// Some bytes of a head have arrived.
    func headBegan() {
        hasHeadBegun = true
        if case .idle = deadline.phase {
            enter(.head)
        }
    }

    /// Ends a connection whose client sends more and more while it leaves its responses unread.
    func abandon() {
        connections.statistics.refusals.increment(.unreadTimeout)
        close()
    }

    /// Bytes have arrived after the last response and were thrown away.
    func didDiscard(_ count: Int) {
        discardedBytes += count
        if discardedBytes > Self.maximumDiscardedBytes {
            context?.close(promise: nil)
        }
    }

    // MARK: Reading requests

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = unwrapInboundIn(data)
        switch part {
        case .head:
            headCount += 1
            contentBytes = 0
            isBetweenRequests = false
        case .body(let bytes):
            contentBytes += bytes.readableBytes
        case .end:
            isBetweenRequests = true
            hasHeadBegun = false
        }
        if isUnread || !heldParts.isEmpty {
            heldParts.append(part)
        } else {
            receive(part, context: context)
        }
    }

    private func receive(_ part: HTTPServerRequestPart, context: ChannelHandlerContext) {
        switch part {
        case .head(let head): receive(head, context: context)
        case .body(let bytes): receive(bytes, context: context)
        case .end: receiveEnd(context: context)
        }
    }

    private func receive(_ head: HTTPRequestHead, context: ChannelHandlerContext) {
        guard case .idle = state else { return }
        answeredCount += 1
        let framing = RequestFraming(head)
        if let irregularity = framing.irregularity {
            end(with: irregularity.fault, reason: .malformedRequest, context: context)
            return
        }
        if let limitedClient {
            rateFault = limitedClient.refusal(of: head)
            rateRefusals = rateFault == nil ? 0 : rateRefusals + 1
        }
        do throws(RequestFault) {
            let request = try PublicRequest(head, framing: framing)
            if framing.hasBody {
                enter(.body)
                if framing.expectsContinue {
                    write(ByteBuffer(string: "HTTP/1.1 100 Continue\r\n\r\n"), context: context)
                }
            }
            state = .receiving(request)
        } catch {
            refuse(framing, RequestKind.Route(target: head.uri), rateFault ?? error, context: context)
        }
    }

    private func receive(_ bytes: ByteBuffer, context: ChannelHandlerContext) {
        switch state.take() {
        case .receiving(var request):
            do throws(RequestFault) {
                try request.append(bytes)
                state = .receiving(request)
            } catch {
                refuse(request.framing, request.kind, error, context: context)
            }
        case .discarding(let remaining):
            state = .discarding(remaining: remaining - bytes.readableBytes)
            if bytes.readableBytes > remaining {
                context.close(promise: nil)
            }
        case .idle:
            break
        case .closing:
            state = .closing
        }
    }

    private func receiveEnd(context: ChannelHandlerContext) {
        switch state.take() {
        case .receiving(let request):
            enter(.idle)
            if let rateFault {
                refuse(request.framing.withoutBody, request.kind, rateFault, context: context)
            } else {
                respond(to: request, context: context)
            }
        case .discarding:
            end(context: context)
        case .idle:
            enter(.idle)
        case .closing:
            state = .closing
        }
    }

    // MARK: Answering

    private func respond(to request: borrowing PublicRequest, context: ChannelHandlerContext) {
        let now = turn.time
        let connection = connectionHeader(for: request.framing)
        let response: ByteBuffer
        var status = HTTPResponseStatus.ok
        do throws(RequestFault) {
            var client = Client()
            try request.read(into: &client)
            let current = policy.current
            connections.answer.removeAll(keepingCapacity: true)
            if let current {
                let summary = current.writeAnswer(for: client, at: now, shape: request.shape, into: &connections.answer)
                recorder?.record(client, summary, current, at: now)
            } else {
                connections.answer.append(contentsOf: request.shape.emptyAnswer.utf8)
                recorder?.record(client, nil, nil, at: now)
            }
            if let known = request.knownAnswers {
                (status, response) = connections.writer.revalidatableAnswer(
                    body: connections.answer,
                    revision: current?.revision,
                    known: known,
                    connection: connection,
                    omitsBody: request.framing.isHead,
                    now: now
                )
            } else {
                connections.writer.writeAnswer(
                    body: connections.answer,
                    revision: current?.revision,
                    connection: connection,
                    omitsBody: request.framing.isHead,
                    now: now,
                    to: &answer
                )
                response = answer
            }
        } catch {
            status = error.status
            response = problem(error, connection: connection, omitsBody: request.framing.isHead, now: now)
        }
        count(request.kind, request.framing.method, status)
        finish(response, connection: connection, context: context)
    }

    /// Answers a request that is refused, and reads over what is still to come of it.
    private func refuse(
        _ framing: RequestFraming,
        _ route: RequestKind.Route,
        _ fault: RequestFault,
        context: ChannelHandlerContext
    ) {
        let now = turn.time
        let connection = framing.hasBody ? .close : connectionHeader(for: framing)
        let response = problem(fault, connection: connection, omitsBody: framing.isHead, now: now)
        count(route, framing.method, fault.status)
        if framing.hasBody {
            enter(.body)
            state = .discarding(remaining: Self.maximumDiscardedBytes)
            write(response, context: context)
        } else {
            finish(response, connection: connection, context: context)
        }
    }

    private func count(_ route: RequestKind.Route, _ method: RequestKind.Method, _ status: HTTPResponseStatus) {
        turn.count(RequestKind(route: route, method: method, status: UInt16(truncatingIfNeeded: status.code)))
    }

    private func finish(
        _ response: ByteBuffer,
        connection: ResponseWriter.ConnectionHeader,
        context: ChannelHandlerContext
    ) {
        write(response, context: context)
        if case .close = connection {
            end(context: context)
        }
    }

    /// Answers with a problem after which the connection cannot go on.
    private func end(with fault: RequestFault, reason: RefusalReason?, context: ChannelHandlerContext) {
        if let reason {
            connections.statistics.refusals.increment(reason)
        }
        let response = problem(fault, connection: .close, omitsBody: false, now: turn.time)
        count(.other, .other, fault.status)
        finish(response, connection: .close, context: context)
    }

    private func problem(
        _ fault: RequestFault,
        connection: ResponseWriter.ConnectionHeader,
        omitsBody: Bool,
        now: Timestamp
    ) -> ByteBuffer {
        connections.statistics.count(fault.status)
        return connections.writer.problem(fault, connection: connection, omitsBody: omitsBody, now: now)
    }

    private func connectionHeader(for framing: RequestFraming) -> ResponseWriter.ConnectionHeader {
        if isShuttingDown || !framing.isKeepAlive || answeredCount >= limits.requestsPerConnection
            || rateRefusals >= Self.maximumRateRefusals
        {
            return .close
        }
        return framing.isHTTP11 ? .implied : .keepAlive
    }

    // MARK: Channel events

    /// Looks at no further requests while the client does not read the responses.
    func channelWritabilityChanged(context: ChannelHandlerContext) {
        let isWritable = context.channel.isWritable
        try? context.channel.syncOptions?.setOption(.autoRead, value: isWritable)
        if isWritable, isUnread {
            isUnread = false
            enter(currentPhase)
            answerHeldRequests(context: context)
        } else if !isWritable, !isUnread {
            isUnread = true
            enter(.unread)
            // What waits may only wait to be flushed.
            flush(context: context)
        }
        context.fireChannelWritabilityChanged()
    }

    /// Answers what was held back, until the client leaves its responses unread again.
    private func answerHeldRequests(context: ChannelHandlerContext) {
        guard !isAnsweringHeldRequests, isHoldingRequests || decoder?.hasUnparsedBytes == true else { return }
        isAnsweringHeldRequests = true
        repeat {
            while !isUnread, let part = heldParts.popFirst() {
                receive(part, context: context)
            }
            if !isUnread, let error = heldError {
                heldError = nil
                receive(error, context: context)
            }
            if !isUnread {
                decoder?.parseHeldBytes()
            }
            // This can make the connection writable, so that the next ones are answered.
            flush(context: context)
        } while acceptsRequests && !isUnread
            && (!heldParts.isEmpty || heldError != nil || decoder?.hasUnparsedBytes == true)
        isAnsweringHeldRequests = false
        if endsAfterHeldRequests, acceptsRequests, !isUnread {
            end(context: context)
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if hasUnflushedWrites {
            turn.flushAtEnd(self)
        }
        context.fireChannelReadComplete()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if isUnread || !heldParts.isEmpty, context.channel.isActive, Self.fault(of: error) != nil {
            heldError = error
        } else {
            receive(error, context: context)
        }
    }

    private func receive(_ error: any Error, context: ChannelHandlerContext) {
        guard context.channel.isActive, let (fault, reason) = Self.fault(of: error) else {
            if error is NIOSSLError || error is BoringSSLError, !isHandshakeDone {
                isHandshakeDone = true
                connections.statistics.refusals.increment(.handshake)
            }
            context.close(promise: nil)
            return
        }
        switch state {
        case .closing: break
        case .discarding: end(context: context)
        case .idle, .receiving: end(with: fault, reason: reason, context: context)
        }
    }

    /// How bytes that are no request are answered, and what they count as beyond their status.
    private static func fault(of error: any Error) -> (RequestFault, RefusalReason?)? {
        switch error {
        case HTTPParserError.headerOverflow:
            let detail = "The header fields of the request are too large or too many; send fewer."
            return (RequestFault(.requestHeaderFieldsTooLarge, detail), nil)
        case let error as HTTPParserError:
            let detail = "The request is not HTTP/1.1 as RFC 9112 defines it: \(error)."
            return (.badRequest(detail), .malformedRequest)
        case let fault as RequestFault:
            return (fault, fault.status == .badRequest ? .malformedRequest : nil)
        default:
            return nil
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case is ChannelShouldQuiesceEvent:
            isShuttingDown = true
            context.eventLoop.assumeIsolated().scheduleTask(in: Self.shutdownLimit) { [self] in
                flush(context: context)
                context.close(promise: nil)
            }
            if case .idle = state {
                context.eventLoop.assumeIsolated().scheduleTask(in: Self.shutdownGrace) { [self] in
                    if case .idle = state {
                        flush(context: context)
                        context.close(promise: nil)
                    }
                }
            }
        case TLSUserEvent.handshakeCompleted:
            isHandshakeDone = true
        case ChannelEvent.inputClosed:
            if isHoldingRequests || decoder?.hasUnparsedBytes == true {
                endsAfterHeldRequests = true
            } else if acceptsRequests {
                end(context: context)
            } else {
                context.close(promise: nil)
            }
        default:
            context.fireUserInboundEventTriggered(event)
        }
    }

    // MARK: Deadlines

    /// What the connection waits for when it does not wait for the client to read.
    private var currentPhase: ConnectionPhase {
        if !acceptsRequests {
            .lingering
        } else if !isBetweenRequests {
            .body
        } else {
            hasHeadBegun ? .head : .idle
        }
    }

    private func enter(_ phase: ConnectionPhase) {
        guard !isUnread || phase == .unread else { return }
        deadline = connections.deadline(for: phase)
    }

    /// Ends the connection, which has stayed in its phase for too long.
    func deadlineExpired() {
        guard let context else { return }
        switch deadline.phase {
        case .head where hasHeadBegun:
            end(
                with: RequestFault(.requestTimeout, "The head of the request took too long."),
                reason: .headerTimeout,
                context: context
            )
            return
        case .body:
            if case .receiving = state {
                end(
                    with: RequestFault(.requestTimeout, "The body of the request took too long."),
                    reason: .bodyTimeout,
                    context: context
                )
                return
            }
            connections.statistics.refusals.increment(.bodyTimeout)
        case .head: connections.statistics.refusals.increment(.headerTimeout)
        case .idle: connections.statistics.refusals.increment(.idleTimeout)
        case .unread: connections.statistics.refusals.increment(.unreadTimeout)
        case .lingering: break
        }
        close()
    }

    /// Whether no request is under way, not even the beginning of one.
    var isIdle: Bool {
        switch deadline.phase {
        case .idle: true
        case .head: !hasHeadBegun
        case .body, .unread, .lingering: false
        }
    }

    /// Ends an idle connection, so that another one has room.
    func evict() {
        connections.statistics.refusals.increment(.evicted)
        flush()
        close()
    }

    /// Closes the connection at once; what is written and was not sent yet is lost.
    private func close() {
        state = .closing
        dropHeldRequests()
        connections.remove(self)
        context?.close(promise: nil)
    }

    private func dropHeldRequests() {
        heldParts.removeAll()
        heldError = nil
        decoder?.dropHeldBytes()
    }

    // MARK: Writing

    private func write(_ bytes: ByteBuffer, context: ChannelHandlerContext) {
        hasUnflushedWrites = true
        context.write(wrapOutboundOut(bytes), promise: nil)
    }

    /// Sends what is written and was not sent yet.
    func flush() {
        if let context {
            flush(context: context)
        }
    }

    private func flush(context: ChannelHandlerContext) {
        if hasUnflushedWrites {
            hasUnflushedWrites = false
            turn.recordAnswered()
            context.flush()
        }
    }

    /// Ends the connection after what is written, and waits a while for the client to do the same.
    private func end(context: ChannelHandlerContext) {
        state = .closing
        dropHeldRequests()
        enter(.lingering)
        flush(context: context)
        context.close(mode: .output, promise: nil)
    }
}

extension AnswerShape {
    /// The answer without messages, which needs no policy.
    fileprivate var emptyAnswer: String {
        switch self {
        case .standard: #"{"messages":[]}"#
        case .legacy: "{}"
        }
    }
}
