import NIOHTTP1

/// The state of one connection, as a state machine: each method takes an event and returns what follows.
///
/// It has no channel and no clock. Limits, deadlines, the rate limit and the shutdown are decided here, whatever reads the
/// bytes and sends the responses. Requests are answered in the order in which they arrive, each before the next is looked
/// at; what arrives while the client leaves its responses unread, or a document is made, is held.
struct ConnectionState {
    /// How far the connection is.
    private enum Stage {
        /// Requests are answered; those that could not be yet are held.
        case open(ArrivingRequest, held: ArraySlice<Arrival>)
        /// The last response is made; what still arrives is discarded.
        case ending(Ending, discardedBytes: Int)
        /// The connection is closed.
        case closed
    }

    /// What the end of a connection waits for.
    private enum Ending {
        /// The document that is the last response.
        case document
        /// That the client reads the last response.
        case reader
        /// That the client closes the connection.
        case client
    }

    /// How far the shutdown of the server is.
    private enum Shutdown {
        case none
        /// The response to the next request is the last one.
        case announced
        /// The connection ends when all that has arrived is answered.
        case due
    }

    private var stage = Stage.open(.none, held: [])
    private var allowance: RequestAllowance
    private var shutdown = Shutdown.none
    /// Whether a TLS handshake that fails is still to be counted: none has succeeded, or was counted.
    private var countsHandshake = true

    /// Where the parser is.
    private(set) var meter: RequestMeter
    /// Whether the client leaves its responses unread.
    private(set) var isUnread = false
    /// Whether the client has sent all it will send.
    private(set) var isInputClosed = false

    /// Creates the state of a connection that has just been opened.
    init(limits: ConnectionLimits) {
        meter = RequestMeter(maximumRequestLineBytes: limits.requestLineBytes)
        allowance = RequestAllowance(maximum: limits.requestsPerConnection)
    }

    // MARK: What the state is

    /// Whether requests that arrive now are answered.
    var acceptsRequests: Bool {
        if case .open = stage { true } else { false }
    }

    /// Whether no request can be answered now: the client leaves responses unread, or a document is being made.
    var isWaiting: Bool { isUnread || awaitsDocument }

    /// Whether a plain request that arrives now is answered at once.
    @inline(__always)
    var acceptsPlainRequests: Bool {
        if case .open(.none, let held) = stage { held.isEmpty && !isUnread && !meter.hasHeadBegun } else { false }
    }

    /// Whether no byte of a request has arrived since the last response.
    var isIdle: Bool {
        switch phase {
        case .idle: true
        case .head: !meter.hasHeadBegun
        case .body, .document, .unread, .lingering: false
        }
    }

    /// What the connection waits for.
    var phase: ConnectionPhase {
        if isUnread { return .unread }
        switch stage {
        case .open(.awaitingDocument, _), .ending(.document, _): return .document
        case .ending(.reader, _): return .unread
        case .ending(.client, _), .closed: return .lingering
        case .open:
            if !meter.isBetweenRequests { return .body }
            let isFirst = allowance.count == 0 && meter.headCount == 0
            return meter.hasHeadBegun || isFirst ? .head : .idle
        }
    }

    private var awaitsDocument: Bool {
        switch stage {
        case .open(.awaitingDocument, _), .ending(.document, _): true
        case .open, .ending, .closed: false
        }
    }

    // MARK: Bytes and requests

    /// Some bytes are about to be parsed.
    ///
    /// - Returns: How many of them the parser is given at once, and the phase whose time begins.
    /// - Throws: 414.
    mutating func nextPiece(
        of bytes: UnsafeRawBufferPointer
    ) throws(RequestFault) -> (length: Int, entered: ConnectionPhase?) {
        let before = phase
        let length = try meter.nextPiece(of: bytes)
        return (length, before == .idle && meter.hasHeadBegun ? .head : nil)
    }

    /// A piece of bytes was parsed, and its parts were received.
    ///
    /// - Throws: 400.
    func pieceEnded() throws(RequestFault) {
        try meter.pieceEnded()
    }

    /// Bytes arrived that nobody will read.
    mutating func discarded(_ byteCount: Int) -> Step {
        guard case .ending(let ending, let before) = stage else { return stay() }
        stage = .ending(ending, discardedBytes: before + byteCount)
        return before + byteCount > ArrivingRequest.maximumDiscardedBytes ? close(nil) : stay()
    }

    /// The client has sent more than is held while its requests cannot be answered.
    mutating func heldTooMuch() -> Step { close(.unreadTimeout) }

    /// The connection keeps more unread responses than any other, and there are too many.
    mutating func heldMost() -> Step { close(.unreadBytes) }

    /// A plain request has arrived, while ``acceptsPlainRequests``.
    ///
    /// - Parameters:
    ///   - isKeepAlive: Whether the client wants to keep the connection.
    ///   - isTooOften: Whether the client asks too often.
    /// - Returns: What the response says about the connection, and the phase whose time begins; the output ends after the
    ///   response where it says `close`.
    mutating func receivedPlainRequest(
        isKeepAlive: Bool,
        isTooOften: Bool
    ) -> (connection: ConnectionHeader, entered: ConnectionPhase) {
        allowance.take(isTooOften: isTooOften)
        if isKeepAlive, shutdown == .none, !allowance.isUsedUp { return (.implied, .idle) }
        stage = .ending(.client, discardedBytes: 0)
        return (.close, .lingering)
    }

    /// A part of a request was parsed.
    ///
    /// - Parameter rateLimit: Counts a request by its head; the fault if its client asks too often.
    mutating func received(_ part: HTTPServerRequestPart, rateLimit: (HTTPRequestHead) -> RequestFault?) -> Step {
        meter.parsed(part)
        return arrived(.part(part), rateLimit)
    }

    /// Nothing after this can be read.
    mutating func failed(_ failure: ConnectionFailure) -> Step {
        switch failure {
        case .request(let fault, let reason): return arrived(.fault(fault, reason)) { _ in nil }
        case .tls where countsHandshake:
            countsHandshake = false
            return close(.handshake)
        case .tls, .connection: return close(nil)
        }
    }

    /// The TLS handshake has succeeded.
    mutating func handshakeCompleted() { countsHandshake = false }

    /// The client has sent all it will send.
    ///
    /// - Parameter hasUnparsedBytes: Whether some of it was not parsed yet.
    mutating func inputClosed(hasUnparsedBytes: Bool) -> Step {
        isInputClosed = true
        switch stage {
        case .ending(.document, _), .ending(.reader, _): return stay()
        case .ending(.client, _), .closed: return close(nil)
        case .open: return caughtUp(hasUnparsedBytes: hasUnparsedBytes)
        }
    }

    // MARK: What is held

    /// The client reads its responses again, or leaves more of them unread than may wait.
    mutating func writabilityChanged(_ isWritable: Bool) -> Step {
        guard isWritable == isUnread else { return stay() }
        isUnread = !isWritable
        if isWritable { return enter(.resume) }
        // Responses may only wait for the end of their batch.
        return Step(action: .flush, entered: .unread)
    }

    /// What follows from the oldest that is held; nil when nothing is, or when no request can be answered now.
    mutating func nextHeld(rateLimit: (HTTPRequestHead) -> RequestFault?) -> Step? {
        guard !isWaiting, case .open(let request, var held) = stage, let arrival = held.popFirst() else { return nil }
        stage = .open(request, held: held.isEmpty ? [] : held)
        return take(arrival, rateLimit)
    }

    /// All that can be answered now is.
    ///
    /// - Parameter hasUnparsedBytes: Whether some of what has arrived was not parsed yet.
    mutating func caughtUp(hasUnparsedBytes: Bool) -> Step {
        guard !hasUnparsedBytes, !isWaiting, case .open(let request, let held) = stage, held.isEmpty else {
            return stay()
        }
        if isInputClosed { return end(.endOutput) }
        if shutdown == .due, case .none = request { return end(.endOutput) }
        return stay()
    }

    /// Something arrives, which is held where it cannot be answered.
    private mutating func arrived(_ arrival: Arrival, _ rateLimit: (HTTPRequestHead) -> RequestFault?) -> Step {
        guard case .open(let request, var held) = stage, isWaiting || !held.isEmpty else {
            return take(arrival, rateLimit)
        }
        stage = .closed
        held.append(arrival)
        stage = .open(request, held: held)
        return stay()
    }

    // MARK: Parts of requests

    private mutating func take(_ arrival: Arrival, _ rateLimit: (HTTPRequestHead) -> RequestFault?) -> Step {
        guard acceptsRequests else { return stay() }
        if case .part(.head) = arrival {
            guard case .open(.none, _) = stage else { return stay() }
        }
        // The request is moved out, so that it is not shared while it grows.
        var before = Stage.closed
        swap(&before, &stage)
        guard case .open(var request, let held) = consume before else { return stay() }
        let outcome: ArrivingRequest.Outcome
        switch arrival {
        case .part(.head(let head)):
            var isTooOften = false
            outcome = request.begin(head) { head in
                let fault = rateLimit(head)
                isTooOften = fault != nil
                return fault
            }
            allowance.take(isTooOften: isTooOften)
        case .part(.body(let bytes)): outcome = request.append(bytes)
        case .part(.end): outcome = request.end()
        case .fault(let fault, let reason):
            if case .discarding = request { return end(.endOutput) }
            return refuse(fault, reason)
        }
        stage = .open(request, held: held)
        return follow(outcome, of: arrival)
    }

    private mutating func follow(_ outcome: ArrivingRequest.Outcome, of arrival: Arrival) -> Step {
        switch outcome {
        case .none:
            if case .part(.end) = arrival { return enter() }
            return stay()
        case .accepted(let framing): return enter(framing.expectsContinue ? .sendContinue : .none)
        case .refused(let fault, let request, let framing, let hasRest):
            let connection = hasRest ? .close : header(isKeepAlive: framing.isKeepAlive, isHTTP11: framing.isHTTP11)
            let endsOutput = connection == .close && !hasRest
            let refusal = Refusal(fault: fault, request: request, connection: connection, endsOutput: endsOutput)
            if endsOutput { return end(.refuse(refusal)) }
            if case .part(.head) = arrival, !hasRest { return stay(.refuse(refusal)) }
            return enter(.refuse(refusal))
        case .irregular(let fault): return refuse(fault, .malformedRequest)
        case .complete(let request):
            let connection = header(isKeepAlive: request.framing.isKeepAlive, isHTTP11: request.framing.isHTTP11)
            if connection == .close { return end(.answer(request, connection)) }
            return enter(.answer(request, connection))
        case .discarded: return end(.endOutput)
        case .floods: return close(nil)
        }
    }

    private func header(isKeepAlive: Bool, isHTTP11: Bool) -> ConnectionHeader {
        if shutdown != .none || !isKeepAlive || allowance.isUsedUp { return .close }
        return isHTTP11 ? .implied : .keepAlive
    }

    // MARK: Documents

    /// The document that answers the last request is to be made first; what comes after it is held until then.
    mutating func beginAwaitingDocument() -> Step {
        switch stage {
        case .open(.none, let held): stage = .open(.awaitingDocument, held: held)
        case .ending(.client, let bytes): stage = .ending(.document, discardedBytes: bytes)
        case .open, .ending, .closed: return stay()
        }
        return enter()
    }

    /// The last request is answered.
    mutating func endAwaitingDocument() -> Step {
        switch stage {
        case .open(.awaitingDocument, let held):
            stage = .open(.none, held: held)
            return enter(isUnread ? .none : .resume)
        case .ending(.document, let bytes):
            stage = .ending(.client, discardedBytes: bytes)
            return stay(.endOutput)
        case .open, .ending, .closed: return stay()
        }
    }

    // MARK: Time

    /// The connection has stayed in its phase for too long.
    mutating func deadlineExpired() -> Step {
        switch (phase, stage) {
        case (.document, _): stay(.giveUpDocument)
        case (.unread, _): close(.unreadTimeout)
        case (.lingering, _), (_, .ending), (_, .closed): close(nil)
        case (.idle, _): close(.idleTimeout)
        case (.head, _) where !meter.hasHeadBegun: close(.headerTimeout)
        case (.head, _): refuse(.tookTooLong("head"), .headerTimeout)
        case (.body, .open(.receiving, _)): refuse(.tookTooLong("body"), .bodyTimeout)
        case (.body, .open): close(.bodyTimeout)
        }
    }

    /// The connection must make room for another one.
    mutating func evicted() -> Step { closeAfterFlush(.evicted) }

    /// The server shuts down: the response to the next request is the last one.
    mutating func beginShutdown() { shutdown = .announced }

    /// The grace of the shutdown is over.
    mutating func shutdownGraceExpired() -> Step {
        shutdown = .due
        if case .open(.none, _) = stage { return closeAfterFlush(nil) }
        return stay()
    }

    /// The shutdown waits no longer.
    mutating func shutdownLimitExpired() -> Step { closeAfterFlush(nil) }

    // MARK: Ending

    /// The output is to end, and some of it is still to be sent.
    mutating func beginEndingOutput() -> Step {
        guard case .ending(.client, let bytes) = stage else { return stay() }
        stage = .ending(.reader, discardedBytes: bytes)
        return Step(action: .none, entered: .unread)
    }

    /// All of the output is sent.
    mutating func outputSent() -> Step {
        guard case .ending(_, let bytes) = stage else { return stay() }
        stage = .ending(.client, discardedBytes: bytes)
        return enter(isInputClosed ? .close(nil) : .closeOutput)
    }

    /// Answers with a problem and ends the output.
    private mutating func refuse(_ fault: RequestFault, _ reason: RefusalReason?) -> Step {
        end(.refuse(Refusal(fault: fault, connection: .close, endsOutput: true, reason: reason)))
    }

    /// Answers no more requests.
    private mutating func end(_ action: Action) -> Step {
        stage = .ending(.client, discardedBytes: 0)
        return enter(action)
    }

    private mutating func close(_ reason: RefusalReason?) -> Step {
        stage = .closed
        return stay(.close(reason))
    }

    private mutating func closeAfterFlush(_ reason: RefusalReason?) -> Step {
        stage = .closed
        return stay(.flushAndClose(reason))
    }

    /// A step that leaves the time as it is.
    private func stay(_ action: Action = .none) -> Step {
        Step(action: action, entered: nil)
    }

    /// A step after which the time of the phase begins, unless the client leaves its responses unread for longer.
    private func enter(_ action: Action = .none) -> Step {
        Step(action: action, entered: isUnread ? nil : phase)
    }
}
