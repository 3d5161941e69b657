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
final class PublicRequestHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundIn = Never
    typealias OutboundOut = ByteBuffer

    /// What the handler is in the middle of.
    private enum State {
        /// Between two requests.
        case idle
        /// A request whose head was accepted is arriving.
        case receiving(HTTPRequestHead, PublicRoute, body: ByteBuffer?)
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

    private let policy: LivePolicy
    private let clock: @Sendable () -> Timestamp
    private var state = State.idle
    private var writer = ResponseWriter()
    private var answer: [UInt8] = []
    private var isShuttingDown = false
    private var hasUnflushedWrites = false
    private var readIsHeldBack = false

    /// Creates the handler of one connection.
    ///
    /// - Parameters:
    ///   - policy: What answers.
    ///   - clock: The time of a check.
    init(policy: LivePolicy, clock: @escaping @Sendable () -> Timestamp) {
        self.policy = policy
        self.clock = clock
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
            let route = try PublicRoute(method: head.method, target: head.uri)
            try Self.checkEncoding(of: head)
            try Self.checkDeclaredLength(of: head)
            state = .receiving(head, route, body: nil)
            if case .checkBody = route, head.headers.expectsContinue {
                write(context.channel.allocator.buffer(staticString: "HTTP/1.1 100 Continue\r\n\r\n"), context: context)
            }
        } catch {
            refuse(head, error, context: context)
        }
    }

    private func receive(_ bytes: ByteBuffer, context: ChannelHandlerContext) {
        switch state {
        case .receiving(let head, let route, var body):
            // The state gives up its reference, so that appending does not copy.
            state = .idle
            var bytes = bytes
            if body?.writeBuffer(&bytes) == nil {
                body = bytes
            }
            if let body, body.readableBytes > CheckBodyDecoder.maximumBodySize {
                refuse(head, Self.contentTooLarge(nil), context: context)
            } else {
                state = .receiving(head, route, body: body)
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
        case .receiving(let head, let route, let body):
            state = .idle
            respond(to: head, route: route, body: body, context: context)
        case .discarding:
            state = .closing
            close(context: context)
        case .idle, .closing:
            break
        }
    }

    // MARK: Answering

    private func respond(
        to head: HTTPRequestHead, route: PublicRoute, body: ByteBuffer?, context: ChannelHandlerContext
    ) {
        let now = clock()
        let connection = connectionHeader(for: head)
        let response: ByteBuffer
        do throws(RequestFault) {
            let client: Client
            let shape: AnswerShape
            let caching: StaticString
            switch route {
            case .checkBody(let requestedShape):
                client = try CheckBodyDecoder.client(from: body ?? ByteBuffer())
                shape = requestedShape
                caching = "no-store"
            case .checkQuery(let query):
                client = try CheckQueryDecoder.client(from: query)
                shape = .standard
                caching = "no-cache"
            }
            let current = policy.current
            answer.removeAll(keepingCapacity: true)
            if let current {
                _ = current.writeAnswer(for: client, at: now, shape: shape, into: &answer)
            } else {
                answer.append(contentsOf: shape.emptyAnswer.utf8)
            }
            response = writer.answer(
                body: answer,
                revision: current?.revision,
                caching: caching,
                connection: connection,
                omitsBody: head.method == .HEAD,
                now: now,
                allocator: context.channel.allocator
            )
        } catch {
            response = writer.problem(
                error,
                connection: connection,
                omitsBody: head.method == .HEAD,
                now: now,
                allocator: context.channel.allocator
            )
        }
        finish(response, connection: connection, context: context)
    }

    /// Answers a request whose body is not wanted, and reads over the rest of it.
    private func refuse(_ head: HTTPRequestHead, _ fault: RequestFault, context: ChannelHandlerContext) {
        let hasBody = head.headers.contains(name: "transfer-encoding") || head.headers.declaredLength != 0
        let connection = hasBody ? .close : connectionHeader(for: head)
        let response = writer.problem(
            fault,
            connection: connection,
            omitsBody: head.method == .HEAD,
            now: clock(),
            allocator: context.channel.allocator
        )
        if hasBody {
            state = .discarding(remaining: Self.maximumDiscardedBytes)
            write(response, context: context)
        } else {
            finish(response, connection: connection, context: context)
        }
    }

    private func finish(
        _ response: ByteBuffer, connection: ResponseWriter.ConnectionHeader, context: ChannelHandlerContext
    ) {
        write(response, context: context)
        if case .close = connection {
            state = .closing
            close(context: context)
        }
    }

    private func connectionHeader(for head: HTTPRequestHead) -> ResponseWriter.ConnectionHeader {
        if isShuttingDown || !head.isKeepAlive {
            return .close
        }
        return head.version == .http1_1 ? .implied : .keepAlive
    }

    // MARK: Judging heads

    private static func checkEncoding(of head: HTTPRequestHead) throws(RequestFault) {
        let encodings = head.headers[canonicalForm: "content-encoding"]
        guard encodings.allSatisfy({ $0.lowercased() == "identity" }) else {
            throw RequestFault(
                .unsupportedMediaType,
                "The body has the content encoding \"\(encodings.joined(separator: ", "))\"; send it unencoded.",
                header: ("Accept-Encoding", "identity")
            )
        }
    }

    private static func checkDeclaredLength(of head: HTTPRequestHead) throws(RequestFault) {
        if let length = head.headers.declaredLength, length > CheckBodyDecoder.maximumBodySize {
            throw contentTooLarge(length)
        }
    }

    private static func contentTooLarge(_ length: Int?) -> RequestFault {
        let size = length.map { "has \($0) bytes" } ?? "is too large"
        return RequestFault(
            .payloadTooLarge, "The body \(size); at most \(CheckBodyDecoder.maximumBodySize) bytes are read."
        )
    }

    // MARK: Channel events

    func read(context: ChannelHandlerContext) {
        if context.channel.isWritable {
            context.read()
        } else {
            readIsHeldBack = true
        }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable, readIsHeldBack {
            readIsHeldBack = false
            context.read()
        }
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
            let response = writer.problem(
                fault, connection: .close, omitsBody: false, now: clock(), allocator: context.channel.allocator
            )
            write(response, context: context)
        }
        close(context: context)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case is ChannelShouldQuiesceEvent:
            isShuttingDown = true
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

extension HTTPHeaders {
    /// The length that the request says its body has: nil when the body is chunked, 0 when there is none.
    fileprivate var declaredLength: Int? {
        if contains(name: "transfer-encoding") { return nil }
        return first(name: "content-length").flatMap { Int($0) } ?? 0
    }

    /// Whether the client waits for `100 Continue` before it sends the body.
    fileprivate var expectsContinue: Bool {
        first(name: "expect")?.lowercased() == "100-continue"
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

extension ByteBufferAllocator {
    fileprivate func buffer(staticString: StaticString) -> ByteBuffer {
        var buffer = buffer(capacity: staticString.utf8CodeUnitCount)
        buffer.writeStaticString(staticString)
        return buffer
    }
}
