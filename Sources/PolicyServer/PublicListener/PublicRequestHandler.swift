// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import NIOCore
import NIOExtras
import NIOHTTP1
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
        /// The last response is written; nothing more is read.
        case closing
    }

    /// The most bytes of a refused request that are read before the connection is cut.
    ///
    /// A client that sends its whole request before it reads would otherwise see a reset instead of the answer.
    private static let maximumDiscardedBytes = 8 << 20

    /// How long an idle connection is kept when the server shuts down, so that a request already on its way is answered.
    private static let shutdownGrace: TimeAmount = .milliseconds(500)

    /// How long a request that is under way when the server shuts down may still take.
    private static let shutdownLimit: TimeAmount = .seconds(5)

    private let policy: LivePolicy
    private let clock: @Sendable () -> Timestamp
    private let recorder: CheckRecorder?
    private var state = State.idle
    private var writer = ResponseWriter()
    private var answer: [UInt8] = []
    private var isShuttingDown = false
    private var hasUnflushedWrites = false

    /// Creates the handler of one connection.
    ///
    /// - Parameters:
    ///   - policy: What answers.
    ///   - clock: The time of a check.
    ///   - recorder: Counts the checks; nil: they are not counted.
    init(policy: LivePolicy, clock: @escaping @Sendable () -> Timestamp, recorder: CheckRecorder?) {
        self.policy = policy
        self.clock = clock
        self.recorder = recorder
    }

    // MARK: Reading requests

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): receive(head, context: context)
        case .body(let bytes): receive(bytes, context: context)
        case .end: receiveEnd(context: context)
        }
    }

    private func receive(_ head: HTTPRequestHead, context: ChannelHandlerContext) {
        guard case .idle = state else { return }
        do throws(RequestFault) {
            let request = try PublicRequest(head)
            if request.expectsContinue {
                write(ByteBuffer(string: "HTTP/1.1 100 Continue\r\n\r\n"), context: context)
            }
            state = .receiving(request)
        } catch {
            refuse(PublicRequest.Framing(head), error, context: context)
        }
    }

    private func receive(_ bytes: ByteBuffer, context: ChannelHandlerContext) {
        switch state {
        case .receiving(var request):
            // The state gives up its reference, so that appending does not copy.
            state = .idle
            do throws(RequestFault) {
                try request.append(bytes)
                state = .receiving(request)
            } catch {
                refuse(request.framing, error, context: context)
            }
        case .discarding(let remaining) where bytes.readableBytes <= remaining:
            state = .discarding(remaining: remaining - bytes.readableBytes)
        case .discarding:
            state = .closing
            context.close(promise: nil)
        case .idle, .closing:
            break
        }
    }

    private func receiveEnd(context: ChannelHandlerContext) {
        switch state {
        case .receiving(let request):
            state = .idle
            respond(to: request, context: context)
        case .discarding:
            state = .closing
            close(context: context)
        case .idle, .closing:
            break
        }
    }

    // MARK: Answering

    private func respond(to request: borrowing PublicRequest, context: ChannelHandlerContext) {
        let now = clock()
        let connection = connectionHeader(for: request.framing)
        let response: ByteBuffer
        do throws(RequestFault) {
            var client = Client()
            try request.read(into: &client)
            let current = policy.current
            answer.removeAll(keepingCapacity: true)
            if let current {
                let summary = current.writeAnswer(for: client, at: now, shape: request.shape, into: &answer)
                recorder?.record(client, summary, current, at: now)
            } else {
                recorder?.record(client, nil, nil, at: now)
                answer.append(contentsOf: request.shape.emptyAnswer.utf8)
            }
            if let known = request.knownAnswers {
                response = writer.revalidatableAnswer(
                    body: answer,
                    revision: current?.revision,
                    known: known,
                    connection: connection,
                    omitsBody: request.framing.isHead,
                    now: now
                )
            } else {
                response = writer.answer(
                    body: answer,
                    revision: current?.revision,
                    connection: connection,
                    omitsBody: request.framing.isHead,
                    now: now
                )
            }
        } catch {
            response = writer.problem(error, connection: connection, omitsBody: request.framing.isHead, now: now)
        }
        finish(response, connection: connection, context: context)
    }

    /// Answers a request whose body is not wanted, and reads over the rest of it.
    private func refuse(_ framing: PublicRequest.Framing, _ fault: RequestFault, context: ChannelHandlerContext) {
        let connection = framing.hasBody ? .close : connectionHeader(for: framing)
        let response = writer.problem(fault, connection: connection, omitsBody: framing.isHead, now: clock())
        if framing.hasBody {
            state = .discarding(remaining: Self.maximumDiscardedBytes)
            write(response, context: context)
        } else {
            finish(response, connection: connection, context: context)
        }
    }

    private func finish(
        _ response: ByteBuffer,
        connection: ResponseWriter.ConnectionHeader,
        context: ChannelHandlerContext
    ) {
        write(response, context: context)
        if case .close = connection {
            state = .closing
            close(context: context)
        }
    }

    private func connectionHeader(for framing: PublicRequest.Framing) -> ResponseWriter.ConnectionHeader {
        if isShuttingDown || !framing.isKeepAlive {
            return .close
        }
        return framing.isHTTP11 ? .implied : .keepAlive
    }

    // MARK: Channel events

    /// Reads no further requests while the client does not read the responses.
    func channelWritabilityChanged(context: ChannelHandlerContext) {
        try? context.channel.syncOptions?.setOption(.autoRead, value: context.channel.isWritable)
        context.fireChannelWritabilityChanged()
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if hasUnflushedWrites {
            hasUnflushedWrites = false
            context.flush()
        }
        context.fireChannelReadComplete()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard error is HTTPParserError, context.channel.isActive else {
            context.close(promise: nil)
            return
        }
        if case .closing = state { return }
        let isAnswered = if case .discarding = state { true } else { false }
        state = .closing
        if !isAnswered {
            let fault = RequestFault.badRequest("The request is not HTTP/1.1 as RFC 9112 defines it: \(error).")
            write(writer.problem(fault, connection: .close, omitsBody: false, now: clock()), context: context)
        }
        close(context: context)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case is ChannelShouldQuiesceEvent:
            isShuttingDown = true
            context.eventLoop.assumeIsolated().scheduleTask(in: Self.shutdownLimit) {
                context.close(promise: nil)
            }
            if case .idle = state {
                context.eventLoop.assumeIsolated().scheduleTask(in: Self.shutdownGrace) { [self] in
                    if case .idle = state {
                        context.close(promise: nil)
                    }
                }
            }
        case ChannelEvent.inputClosed:
            state = .closing
            close(context: context)
        default:
            context.fireUserInboundEventTriggered(event)
        }
    }

    // MARK: Writing

    private func write(_ bytes: ByteBuffer, context: ChannelHandlerContext) {
        hasUnflushedWrites = true
        context.write(wrapOutboundOut(bytes), promise: nil)
    }

    private func close(context: ChannelHandlerContext) {
        hasUnflushedWrites = false
        context.flush()
        context.close(promise: nil)
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
