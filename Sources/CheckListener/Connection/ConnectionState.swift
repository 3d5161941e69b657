// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import NIOCore
import NIOHTTP1

/// The state of one connection, as a state machine: each method takes an event and returns the action that follows.
///
/// It has no channel and no clock. Limits, deadlines, the rate limit and the shutdown are decided here, whatever reads the
/// bytes and sends the responses. Requests are answered in the order in which they arrive, each before the next is looked
/// at; while the client leaves its responses unread, what arrives is held.
struct ConnectionState {
    /// What the handler of the connection does next.
    enum Action {
        case none
        /// Sends `100 Continue`.
        case sendContinue
        /// Answers a request; ends the output after it where the response closes the connection.
        case answer(CheckRequest, ResponseWriter.ConnectionHeader)
        /// Answers with a problem.
        case refuse(RefusedRequest)
        /// Sends what is written.
        case flush
        /// Answers what was held.
        case resume
        /// Says that the document that the connection waits for could not be made in time.
        case giveUpDocument
        /// Ends the output after what is written.
        case endOutput
        /// Closes the connection and counts why; what is written and not sent is lost.
        case close(RefusalReason?)
        /// Closes the connection after what is written, and counts why.
        case flushAndClose(RefusalReason?)
    }

    /// A request that is refused.
    struct RefusedRequest {
        /// How it is answered.
        let fault: RequestFault
        /// The route in metrics.
        var route = RequestKind.Route.other
        /// The method in metrics.
        var method = RequestKind.Method.other
        /// Whether the response has no body.
        var omitsBody = false
        /// What the response says about the connection.
        let connection: ResponseWriter.ConnectionHeader
        /// Whether the output ends after the response; it does not while the rest of the request is discarded.
        let endsOutput: Bool
        /// The reason in metrics, where the status alone does not name it.
        var reason: RefusalReason?
    }

    /// Where the connection is between two responses.
    private enum Position {
        /// Between two requests.
        case idle
        /// A request whose head was accepted is arriving.
        case receiving(CheckRequest)
        /// A request that is answered already is still arriving; up to `remaining` more bytes of it are discarded.
        case discarding(remaining: Int)
        /// The last response is written; what still arrives is discarded.
        case closing

        /// Moves the position out and leaves idle behind, so that the request in it is changed without a copy.
        mutating func take() -> Position {
            var position = Position.idle
            swap(&position, &self)
            return position
        }
    }

    /// The most bytes of a refused request that are read before the connection is closed.
    ///
    /// A client that sends its whole request before it reads would otherwise see a reset instead of the answer.
    private static let maximumDiscardedBytes = 8 << 20

    /// How many requests in a row a connection may be refused for asking too often; the last refusal ends it.
    private static let maximumRateRefusals = 16

    /// Where the parser is.
    private(set) var meter: RequestMeter
    /// What the connection waits for.
    private(set) var phase = ConnectionPhase.head
    /// Whether the client leaves its responses unread.
    private(set) var isUnread = false
    /// Whether the last request is answered once its document is made.
    private(set) var awaitsDocument = false
    /// Whether some of the last response is still to be sent.
    private var isOutputEnding = false
    /// Whether the client has sent all it will send.
    private(set) var isInputClosed = false
    private var hasEnteredPhase = true
    private var position = Position.idle
    private let maximumRequests: Int
    private var requestCount = 0
    /// The refusal of the request that is arriving, if its client asks too often.
    private var rateFault: RequestFault?
    /// How many requests in a row were refused for asking too often.
    private var rateRefusals = 0
    /// Parsed parts that wait until earlier requests are answered.
    ///
    /// nil on nearly every connection, since an empty buffer has memory for many parts.
    private var heldParts: CircularBuffer<HTTPServerRequestPart>?
    /// The failure that came after the held parts.
    private var heldFailure: ConnectionFailure?
    private var isResuming = false
    /// Whether the client has sent all it will send, some of which is held.
    private var endsAfterHeldRequests = false
    private var discardedBytes = 0
    private var isShuttingDown = false
    /// Whether the TLS handshake, if there is one, has succeeded or was counted as failed.
    private var isHandshakeDone = false

    /// Creates the state of a connection that has just been opened.
    init(limits: ConnectionLimits) {
        meter = RequestMeter(maximumRequestLineBytes: limits.requestLineBytes)
        maximumRequests = limits.requestsPerConnection
    }

    // MARK: What the state is

    /// Whether requests that arrive now are answered.
    var acceptsRequests: Bool {
        if case .closing = position { false } else { true }
    }

    /// Whether requests that arrive now are held until earlier ones are answered.
    var isHoldingRequests: Bool {
        isWaiting || isResuming || hasHeldRequests
    }

    /// Whether no request can be answered now: the client leaves responses unread, or a document is being made.
    var isWaiting: Bool { isUnread || awaitsDocument }

    /// Whether no byte of a request has arrived since the last response.
    var isIdle: Bool {
        switch phase {
        case .idle: true
        case .head: !meter.hasHeadBegun
        case .body, .document, .unread, .lingering: false
        }
    }

    /// The phase that was entered since the last call; nil if none was.
    ///
    /// Entering the same phase again starts its time anew.
    mutating func takeEnteredPhase() -> ConnectionPhase? {
        guard hasEnteredPhase else { return nil }
        hasEnteredPhase = false
        return phase
    }

    /// Whether a plain request that arrives now is answered at once.
    var acceptsPlainRequests: Bool {
        if case .idle = position { !isHoldingRequests } else { false }
    }

    private var hasHeldRequests: Bool { heldParts != nil || heldFailure != nil }

    // MARK: Bytes and requests

    /// Some bytes are about to be parsed.
    ///
    /// - Returns: How many of them the parser is given at once.
    /// - Throws: 414.
    mutating func nextPiece(of bytes: UnsafeRawBufferPointer) throws(RequestFault) -> Int {
        try meter.nextPiece(of: bytes)
    }

    /// A piece of bytes was parsed, and its parts were received.
    ///
    /// - Throws: 400.
    mutating func didParse() throws(RequestFault) {
        try meter.didParse()
        if meter.isBetweenRequests, meter.hasHeadBegun, phase == .idle { enter(.head) }
    }

    /// Bytes arrived after the last response and were discarded.
    mutating func discarded(_ byteCount: Int) -> Action {
        discardedBytes += byteCount
        return discardedBytes > Self.maximumDiscardedBytes ? close(nil) : .none
    }

    /// The client leaves its responses unread and has sent more than is held.
    mutating func heldTooMuch() -> Action {
        close(.unreadTimeout)
    }

    /// The connection keeps more unread responses than any other, and there are too many.
    mutating func heldMost() -> Action {
        close(.unreadBytes)
    }

    /// A plain request has arrived, while ``acceptsPlainRequests``.
    ///
    /// - Parameters:
    ///   - isKeepAlive: Whether the client wants to keep the connection.
    ///   - isTooOften: Whether the client asks too often.
    /// - Returns: What the response says about the connection; the output ends after it where that is `close`.
    mutating func receivedPlainRequest(isKeepAlive: Bool, isTooOften: Bool) -> ResponseWriter.ConnectionHeader {
        requestCount += 1
        rateRefusals = isTooOften ? rateRefusals + 1 : 0
        enter(.idle)
        let connection = connectionHeader(isKeepAlive: isKeepAlive, isHTTP11: true)
        if connection == .close { stopAccepting(entering: .lingering) }
        return connection
    }

    /// A part of a request was parsed.
    ///
    /// - Parameter rateLimit: Counts a request by its head; the fault if its client asks too often.
    mutating func received(
        _ part: HTTPServerRequestPart,
        rateLimit: (HTTPRequestHead) -> RequestFault?
    ) -> Action {
        meter.parsed(part)
        guard !isWaiting, heldParts == nil else {
            if heldParts == nil { heldParts = CircularBuffer() }
            heldParts?.append(part)
            return .none
        }
        return receive(part, rateLimit)
    }

    /// Nothing after this can be read.
    mutating func failed(_ failure: ConnectionFailure) -> Action {
        if case .request = failure, isWaiting || heldParts != nil {
            heldFailure = failure
            return .none
        }
        return receive(failure)
    }

    /// The TLS handshake has succeeded.
    mutating func handshakeCompleted() {
        isHandshakeDone = true
    }

    /// The client has sent all it will send.
    ///
    /// - Parameter hasUnparsedBytes: Whether some of it was not parsed yet.
    mutating func inputClosed(hasUnparsedBytes: Bool) -> Action {
        isInputClosed = true
        guard acceptsRequests else { return awaitsDocument || isOutputEnding ? .none : close(nil) }
        guard !isHoldingRequests, !hasUnparsedBytes else {
            endsAfterHeldRequests = true
            return .none
        }
        return endOutput()
    }

    private mutating func receive(
        _ part: HTTPServerRequestPart,
        _ rateLimit: (HTTPRequestHead) -> RequestFault?
    ) -> Action {
        switch part {
        case .head(let head): receive(head, rateLimit)
        case .body(let bytes): receive(bytes)
        case .end: receiveEnd()
        }
    }

    private mutating func receive(
        _ head: HTTPRequestHead,
        _ rateLimit: (HTTPRequestHead) -> RequestFault?
    ) -> Action {
        guard case .idle = position else { return .none }
        requestCount += 1
        let framing = RequestFraming(head)
        if let irregularity = framing.irregularity {
            return end(with: irregularity.fault, .malformedRequest)
        }
        rateFault = rateLimit(head)
        rateRefusals = rateFault == nil ? 0 : rateRefusals + 1
        do throws(RequestFault) {
            position = .receiving(try CheckRequest(head, framing: framing))
        } catch {
            return refuse(framing, RequestKind.Route(target: head.uri), rateFault ?? error)
        }
        guard framing.hasBody else { return .none }
        enter(.body)
        return framing.expectsContinue ? .sendContinue : .none
    }

    private mutating func receive(_ bytes: ByteBuffer) -> Action {
        switch position.take() {
        case .receiving(var request):
            do throws(RequestFault) {
                try request.append(bytes)
                position = .receiving(request)
                return .none
            } catch {
                return refuse(request.framing, request.kind, error)
            }
        case .discarding(let remaining):
            guard bytes.readableBytes <= remaining else { return close(nil) }
            position = .discarding(remaining: remaining - bytes.readableBytes)
            return .none
        case .idle:
            return .none
        case .closing:
            position = .closing
            return .none
        }
    }

    private mutating func receiveEnd() -> Action {
        switch position.take() {
        case .receiving(let request):
            enter(.idle)
            if let rateFault { return refuse(request.framing.withoutBody, request.kind, rateFault) }
            let connection = connectionHeader(for: request.framing)
            if connection == .close { stopAccepting(entering: .lingering) }
            return .answer(request, connection)
        case .discarding:
            return endOutput()
        case .idle:
            enter(.idle)
            return .none
        case .closing:
            position = .closing
            return .none
        }
    }

    private mutating func receive(_ failure: ConnectionFailure) -> Action {
        switch failure {
        case .request(let fault, let reason):
            switch position {
            case .idle, .receiving: return end(with: fault, reason)
            case .discarding: return endOutput()
            case .closing: return .none
            }
        case .tls where !isHandshakeDone:
            isHandshakeDone = true
            return close(.handshake)
        case .tls, .connection:
            return close(nil)
        }
    }

    // MARK: Documents

    /// The document that answers the last request is to be made first; what comes after it is held until then.
    mutating func beginAwaitingDocument() {
        awaitsDocument = true
        enter(.document)
    }

    /// The last request can be answered now.
    ///
    /// - Returns: What follows once it is.
    mutating func endAwaitingDocument() -> Action {
        awaitsDocument = false
        guard acceptsRequests else { return .endOutput }
        enter(waitingPhase)
        return isUnread ? .none : .resume
    }

    // MARK: The end of the output

    /// The output is to end, and some of it is still to be sent.
    mutating func beginEndingOutput() {
        isOutputEnding = true
        enter(.unread)
    }

    /// All of the output is sent.
    ///
    /// - Returns: `.close` where the client has ended its side, too.
    mutating func finishOutput() -> Action {
        isOutputEnding = false
        enter(.lingering)
        return isInputClosed ? .close(nil) : .none
    }

    // MARK: What is held

    /// The client reads its responses again, or leaves more of them unread than may wait.
    mutating func writabilityChanged(_ isWritable: Bool) -> Action {
        guard isWritable == isUnread else { return .none }
        isUnread = !isWritable
        if isWritable {
            enter(waitingPhase)
            return .resume
        }
        enter(.unread)
        // Responses may only wait for the end of their batch.
        return .flush
    }

    /// The handler is about to answer what was held.
    ///
    /// - Parameter hasUnparsedBytes: Whether some of it was not parsed yet.
    /// - Returns: Whether there is anything to do.
    mutating func beginResuming(hasUnparsedBytes: Bool) -> Bool {
        guard !isResuming, !awaitsDocument, acceptsRequests,
            isHoldingRequests || hasUnparsedBytes || endsAfterHeldRequests
        else { return false }
        isResuming = true
        return true
    }

    /// The action for the oldest held part; nil when none is left, or when no request can be answered now.
    mutating func nextHeld(rateLimit: (HTTPRequestHead) -> RequestFault?) -> Action? {
        guard !isWaiting else { return nil }
        if let part = heldParts?.popFirst() {
            if heldParts?.isEmpty == true { heldParts = nil }
            return receive(part, rateLimit)
        }
        guard let failure = heldFailure else { return nil }
        heldFailure = nil
        return receive(failure)
    }

    /// Whether more of what was held can be answered now.
    func canResume(hasUnparsedBytes: Bool) -> Bool {
        acceptsRequests && !isWaiting && (hasHeldRequests || hasUnparsedBytes)
    }

    /// The handler has answered what it could.
    mutating func endResuming() -> Action {
        isResuming = false
        return endsAfterHeldRequests && acceptsRequests && !isWaiting ? endOutput() : .none
    }

    // MARK: Time

    /// The connection has stayed in its phase for too long.
    mutating func deadlineExpired() -> Action {
        if awaitsDocument, phase == .document { return .giveUpDocument }
        guard acceptsRequests else { return close(phase == .unread ? .unreadTimeout : nil) }
        switch phase {
        case .head where meter.hasHeadBegun:
            return end(with: RequestFault(.requestTimeout, "The head of the request took too long."), .headerTimeout)
        case .body:
            guard case .receiving = position else { return close(.bodyTimeout) }
            return end(with: RequestFault(.requestTimeout, "The body of the request took too long."), .bodyTimeout)
        case .head: return close(.headerTimeout)
        case .idle: return close(.idleTimeout)
        case .unread: return close(.unreadTimeout)
        case .document, .lingering: return close(nil)
        }
    }

    /// The connection must make room for another one.
    mutating func evicted() -> Action {
        closeAfterFlush(.evicted)
    }

    /// The server shuts down: the response to the next request is the last one.
    ///
    /// - Returns: Whether the connection is between two requests, and ends when the time for one more is over.
    mutating func beginShutdown() -> Bool {
        isShuttingDown = true
        if case .idle = position { return true }
        return false
    }

    /// The grace of the shutdown is over.
    mutating func shutdownGraceExpired() -> Action {
        guard case .idle = position else { return .none }
        guard !awaitsDocument else {
            endsAfterHeldRequests = true
            return .none
        }
        return closeAfterFlush(nil)
    }

    /// The shutdown waits no longer.
    mutating func shutdownLimitExpired() -> Action {
        closeAfterFlush(nil)
    }

    private mutating func enter(_ phase: ConnectionPhase) {
        guard !isUnread || phase == .unread else { return }
        self.phase = phase
        hasEnteredPhase = true
    }

    /// What the connection waits for when it does not wait for the client to read.
    private var waitingPhase: ConnectionPhase {
        if awaitsDocument {
            .document
        } else if isOutputEnding {
            .unread
        } else if !acceptsRequests {
            .lingering
        } else if !meter.isBetweenRequests {
            .body
        } else {
            meter.hasHeadBegun ? .head : .idle
        }
    }

    // MARK: Ending

    /// Refuses a request and discards the rest of it.
    private mutating func refuse(
        _ framing: RequestFraming,
        _ route: RequestKind.Route,
        _ fault: RequestFault
    ) -> Action {
        let connection = framing.hasBody ? .close : connectionHeader(for: framing)
        if framing.hasBody {
            enter(.body)
            position = .discarding(remaining: Self.maximumDiscardedBytes)
        } else if connection == .close {
            stopAccepting(entering: .lingering)
        }
        return .refuse(
            RefusedRequest(
                fault: fault,
                route: route,
                method: framing.method,
                omitsBody: framing.isHead,
                connection: connection,
                endsOutput: connection == .close && !framing.hasBody
            )
        )
    }

    /// Answers with a problem and ends the output.
    private mutating func end(with fault: RequestFault, _ reason: RefusalReason?) -> Action {
        stopAccepting(entering: .lingering)
        return .refuse(RefusedRequest(fault: fault, connection: .close, endsOutput: true, reason: reason))
    }

    private mutating func endOutput() -> Action {
        stopAccepting(entering: .lingering)
        return .endOutput
    }

    private mutating func close(_ reason: RefusalReason?) -> Action {
        stopAccepting(entering: nil)
        return .close(reason)
    }

    private mutating func closeAfterFlush(_ reason: RefusalReason?) -> Action {
        stopAccepting(entering: nil)
        return .flushAndClose(reason)
    }

    /// Discards what is held and what still arrives.
    private mutating func stopAccepting(entering phase: ConnectionPhase?) {
        position = .closing
        heldParts = nil
        heldFailure = nil
        if let phase { enter(phase) }
    }

    private func connectionHeader(for framing: RequestFraming) -> ResponseWriter.ConnectionHeader {
        connectionHeader(isKeepAlive: framing.isKeepAlive, isHTTP11: framing.isHTTP11)
    }

    private func connectionHeader(isKeepAlive: Bool, isHTTP11: Bool) -> ResponseWriter.ConnectionHeader {
        if isShuttingDown || !isKeepAlive || requestCount >= maximumRequests
            || rateRefusals >= Self.maximumRateRefusals
        {
            return .close
        }
        return isHTTP11 ? .implied : .keepAlive
    }
}
