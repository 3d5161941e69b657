// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import NIOCore
import NIOExtras
import NIOHTTP1
import NIOTLS

/// Tells the ``ConnectionState`` of one connection what happens, and carries out what it decides.
///
/// It never awaits: a check is answered from the policy in memory within the event loop's tick that completed the
/// request, so responses leave in the order of the requests, pipelined or not.
final class ConnectionHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
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
    /// The parser of this connection; it refers to this handler, until the connection is gone.
    var decoder: RequestDecoder?

    private let loop: EventLoopContext
    private let limitedClient: LimitedClient?
    private var responder: CheckResponder
    private var context: ChannelHandlerContext?
    private var hasUnflushedWrites = false

    /// Creates the handler of one connection.
    ///
    /// - Parameters:
    ///   - policy: What answers.
    ///   - recorder: Counts the checks; nil: they are not counted.
    ///   - limits: What the connection may take.
    ///   - loop: What the connections of the same event loop share.
    ///   - limitedClient: Who is held to a rate; nil when nobody is.
    init(
        policy: CurrentPolicy,
        recorder: CheckRecorder?,
        limits: ConnectionLimits,
        loop: EventLoopContext,
        limitedClient: LimitedClient?
    ) {
        self.loop = loop
        self.limitedClient = limitedClient
        responder = CheckResponder(policy: policy, recorder: recorder, loop: loop)
        state = ConnectionState(limits: limits)
        deadline = loop.timeouts.deadline(for: state.phase)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        loop.timeouts.add(self)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        loop.timeouts.remove(self)
        self.context = nil
        decoder = nil
    }

    // MARK: What the decoder tells

    /// A piece of bytes is about to be parsed.
    func willParse(_ bytes: UnsafeRawBufferPointer) throws(RequestFault) {
        try state.willParse(bytes)
    }

    /// A piece of bytes was parsed.
    func didParse(_ byteCount: Int, retainedBytes: Int) throws(RequestFault) {
        try state.didParse(byteCount, retainedBytes: retainedBytes)
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

    // MARK: What the channel tells

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        perform(state.received(unwrapInboundIn(data), rateLimit: { rateFault(of: $0) }))
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if hasUnflushedWrites {
            loop.batch.flushAtEnd(self)
        }
        context.fireChannelReadComplete()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        let isWritable = context.channel.isWritable
        try? context.channel.syncOptions?.setOption(.autoRead, value: isWritable)
        perform(state.writabilityChanged(isWritable))
        context.fireChannelWritabilityChanged()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        var failure = ConnectionFailure(error)
        if case .request = failure, !context.channel.isActive { failure = .connection }
        perform(state.failed(failure))
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case is ChannelShouldQuiesceEvent:
            beginShutdown(context.eventLoop)
        case TLSUserEvent.handshakeCompleted:
            state.handshakeCompleted()
        case ChannelEvent.inputClosed:
            perform(state.inputClosed(hasUnparsedBytes: hasUnparsedBytes))
        default:
            context.fireUserInboundEventTriggered(event)
        }
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
        guard hasUnflushedWrites, let context else { return }
        hasUnflushedWrites = false
        loop.batch.recordAnswered()
        context.flush()
    }

    // MARK: Actions

    private func perform(_ action: consuming ConnectionState.Action) {
        noteEnteredPhase()
        switch action {
        case .none:
            break
        case .sendContinue:
            write(ByteBuffer(string: "HTTP/1.1 100 Continue\r\n\r\n"))
        case .answer(let request, let connection):
            let response = responder.response(to: request, connection: connection, at: loop.batch.time)
            count(request.kind, request.framing.method, response.status)
            write(response.bytes)
            if connection == .close { endOutput() }
        case .refuse(let refusal):
            if let reason = refusal.reason { loop.statistics.refusals.increment(reason) }
            let response = responder.response(to: refusal, at: loop.batch.time)
            count(refusal.route, refusal.method, response.status)
            write(response.bytes)
            if refusal.endsOutput { endOutput() }
        case .flush:
            flush()
        case .resume:
            resume()
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
            if !state.isUnread { decoder?.parseHeldBytes() }
            // This can make the connection writable, so that the next ones are answered.
            flush()
        } while state.canResume(hasUnparsedBytes: hasUnparsedBytes)
        perform(state.endResuming())
    }

    private var hasUnparsedBytes: Bool { decoder?.hasUnparsedBytes == true }

    private func rateFault(of head: HTTPRequestHead) -> RequestFault? {
        limitedClient?.refusal(of: head)
    }

    private func count(_ route: RequestKind.Route, _ method: RequestKind.Method, _ status: HTTPResponseStatus) {
        loop.batch.count(RequestKind(route: route, method: method, status: UInt16(truncatingIfNeeded: status.code)))
    }

    private func write(_ bytes: ByteBuffer) {
        hasUnflushedWrites = true
        context?.write(wrapOutboundOut(bytes), promise: nil)
    }

    private func endOutput() {
        decoder?.dropHeldBytes()
        flush()
        context?.close(mode: .output, promise: nil)
    }

    private func close(_ reason: RefusalReason?) {
        if let reason { loop.statistics.refusals.increment(reason) }
        decoder?.dropHeldBytes()
        loop.timeouts.remove(self)
        context?.close(promise: nil)
    }
}
