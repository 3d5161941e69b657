import UpdatePolicy

/// Reads the requests of a connection: the one reader of HTTP/1.1 and 1.0.
///
/// A request is read where it lies, once it is whole; until then its bytes stay unread. The reader remembers how far it came,
/// so that none of them is looked at for each byte that arrives. Every rule is applied in the order of the bytes: what comes of
/// a request does not depend on how it is cut.
///
/// In any doubt it refuses. What it takes, other readers must take as the same requests: the tests hold it to swift-nio's
/// llhttp, in that direction.
///
/// Source: [RFC 9112](https://www.rfc-editor.org/rfc/rfc9112).
struct RequestReader {
    /// What some bytes begin with.
    enum Reading {
        /// A request.
        case request(Request)
        /// A part of one.
        case incomplete
        /// The head of one whose client waits for `100 Continue` before it sends the body; said once.
        case waitsForContinue
        /// No request; nothing behind it can be read.
        case malformed(RequestFault, RefusalReason?)
    }

    /// The part of a request that has arrived.
    private indirect enum Part {
        case head(RequestHead)
        case body(AcceptedHead, BodyFraming)
    }

    private let limits: RequestLimits
    private let takesReleases: Bool
    private var part: Part?

    /// Creates the reader of a connection.
    init(limits: ConnectionLimits, takesReleases: Bool = true) {
        self.limits = RequestLimits(limits)
        self.takesReleases = takesReleases
    }

    /// Whether the body is what is missing of a request.
    var isInBody: Bool {
        if case .body = part { true } else { false }
    }

    /// Reads what some bytes begin with; those of an incomplete request must be there again the next time.
    @inline(__always)
    mutating func read(_ bytes: UnsafeRawBufferPointer) -> Reading {
        if part != nil { return readOn(bytes) }
        var head = RequestHead()
        let progress = head.read(bytes, limits)
        if progress == .whole, let request = head.usualRequest(in: bytes) { return .request(request) }
        return read(head, progress, bytes)
    }

    @inline(never)
    private mutating func readOn(_ bytes: UnsafeRawBufferPointer) -> Reading {
        switch part {
        case .head(var head):
            part = nil
            let progress = head.read(bytes, limits)
            return read(head, progress, bytes)
        case .body(let head, let framing):
            part = nil
            return read(framing, of: head, bytes)
        case nil: return .incomplete
        }
    }

    @inline(never)
    private mutating func read(_ head: RequestHead, _ progress: Progress, _ bytes: UnsafeRawBufferPointer) -> Reading {
        switch progress {
        case .whole: break
        case .incomplete:
            part = .head(head)
            return .incomplete
        case .malformed: return .malformed(head.fault, .malformedRequest)
        case .tooLarge: return .malformed(head.overflow(limits), nil)
        }
        if let irregularity = head.fields.meaning.irregularity(isHTTP11: head.line.isHTTP11) {
            return .malformed(irregularity.fault, .malformedRequest)
        }
        let accepted = AcceptedHead(head, bytes, takesReleases: takesReleases)
        let framing = head.fields.meaning.framing
        if case .refused = accepted.route, framing.hasBody {
            return .request(accepted.request(refusedWith: nil, length: head.fields.position))
        }
        if accepted.waitsForContinue, framing.hasBody {
            part = .body(accepted, framing)
            return .waitsForContinue
        }
        return read(framing, of: accepted, bytes)
    }

    private mutating func read(
        _ framing: BodyFraming,
        of head: AcceptedHead,
        _ bytes: UnsafeRawBufferPointer
    ) -> Reading {
        let start = head.fields.position
        switch framing {
        case .length(let length):
            guard bytes.count - start >= length else { break }
            return .request(head.request(length: start + length))
        case .chunks(var chunks):
            switch chunks.read(bytes, from: start) {
            case .whole: return .request(head.request(of: chunks, length: start + chunks.length))
            case .incomplete:
                part = .body(head, .chunks(chunks))
                return .incomplete
            case .malformed: return .malformed(.notHTTP("the chunks of the body"), .malformedRequest)
            case .tooLarge:
                guard chunks.isContentTooLarge else { return .malformed(ChunkedBody.overheadFault, .malformedRequest) }
                return .request(head.request(refusedWith: .contentTooLarge("is too large"), length: start))
            }
        }
        part = .body(head, framing)
        return .incomplete
    }
}

/// How long a head may be.
struct RequestLimits {
    let lineBytes, headerBytes, headerFields: Int

    init(_ limits: ConnectionLimits) {
        (lineBytes, headerBytes, headerFields) = (limits.requestLineBytes, limits.headerBytes, limits.headerFields)
    }
}

/// How far the reading of a part of a request came.
enum Progress {
    case whole
    case incomplete
    /// Some byte may not stand where it does.
    case malformed
    /// It has more bytes, or more of something, than it may.
    case tooLarge
}

/// Where the body of a request ends.
enum BodyFraming {
    case length(Int)
    case chunks(ChunkedBody)

    /// Whether a body follows the head.
    var hasBody: Bool {
        if case .length(0) = self { false } else { true }
    }
}

/// The head of a request, as far as it was read.
private struct RequestHead {
    private(set) var line = RequestLine()
    private(set) var fields = FieldSection()

    /// Reads on.
    @inline(__always)
    mutating func read(_ bytes: UnsafeRawBufferPointer, _ limits: RequestLimits) -> Progress {
        if line.length == 0 {
            let progress = line.read(bytes, limits)
            guard progress == .whole else { return progress }
            fields = FieldSection(at: line.length, size: line.target.count)
        }
        return fields.read(bytes, maximumSize: limits.headerBytes, maximumCount: limits.headerFields)
    }

    /// The request, where it is one that nearly all apps send, and whole.
    @inline(__always)
    func usualRequest(in bytes: UnsafeRawBufferPointer) -> Request? {
        let meaning = fields.meaning
        guard line.form != .other, meaning.isUsual else { return nil }
        let bodyLength = meaning.contentLength
        guard bodyLength <= CheckBodyDecoder.maximumBodySize, bytes.count &- fields.position >= bodyLength else {
            return nil
        }
        let length = fields.position &+ bodyLength
        let isQuery = line.form == .checkQuery
        return Request(
            route: isQuery ? .checkQuery : .checkBody(line.form == .legacyCheckBody ? .legacy : .standard),
            input: isQuery ? line.query : Range(uncheckedBounds: (fields.position, length)),
            length: length,
            label: RequestLabel(
                route: line.form == .legacyCheckBody ? .legacyCheck : .check,
                method: isQuery ? .get : .post
            ),
            isHTTP11: true, keepsConnection: !meaning.closes, fields: fields
        )
    }

    /// What is wrong with it.
    var fault: RequestFault {
        if line.length > 0 { return .notHTTP("a header field, or the end of a line") }
        if line.isPrefaceOfHTTP2 { return .badRequest("The connection begins as HTTP/2; only HTTP/1.1 is served.") }
        return .notHTTP("the request line")
    }

    /// What is too large of it.
    func overflow(_ limits: RequestLimits) -> RequestFault {
        guard line.length == 0 else {
            let detail = "The header fields of the request are too large or too many; send fewer."
            return RequestFault(.headerFieldsTooLarge, detail)
        }
        return RequestFault(
            .uriTooLong,
            "The request line is longer than \(limits.lineBytes) bytes. Use POST for longer descriptions."
        )
    }
}

/// The head of a request that can be read in one way, and what it asks.
private struct AcceptedHead {
    let line: RequestLine
    let fields: FieldSection
    let route: Request.Route
    /// Whether the client waits for `100 Continue` before it sends the body.
    let waitsForContinue: Bool
    private let label: RequestLabel

    init(_ head: RequestHead, _ bytes: UnsafeRawBufferPointer, takesReleases: Bool) {
        (line, fields) = (head.line, head.fields)
        let method = bytes.text(line.method)
        let target = RequestTarget(bytes.text(line.target), takesReleases: takesReleases)
        label = RequestLabel(route: target.kind, method: RequestKind.Method(rawValue: method) ?? .other)
        let meaning = head.fields.meaning
        var route = Request.Route(method, target) { head.fields.values(of: $0, in: bytes) }
        if meaning.isEncoded, route.readsContent {
            let encoding = head.fields.values(of: "content-encoding", in: bytes).joined(separator: ", ")
            route = .refused(
                RequestFault(
                    .unsupportedMediaType,
                    "The body has the content encoding \"\(RequestFault.excerpt(encoding[...]))\"; send it unencoded.",
                    header: ("Accept-Encoding", "identity")
                )
            )
        } else if meaning.contentLength > CheckBodyDecoder.maximumBodySize {
            route = route.refused(with: .contentTooLarge("has \(meaning.contentLength) bytes"))
        }
        self.route = route
        // HTTP/1.0 has no such response.
        waitsForContinue = meaning.expectsContinue && line.isHTTP11
    }

    /// The request, which has no chunks.
    func request(length: Int) -> Request {
        let isQuery = if case .checkQuery = route { true } else { false }
        return request(route, isQuery ? line.query : fields.position..<length, length: length)
    }

    /// The request with the content of some chunks.
    func request(of chunks: ChunkedBody, length: Int) -> Request {
        switch route {
        case .checkBody(let shape): request(.chunkedCheckBody(shape, chunks.content), 0..<0, length: length)
        case .release(let token, _): request(.release(token: token, chunks: chunks.content), 0..<0, length: length)
        default: request(length: length)
        }
    }

    /// The request where it is refused, and some of it is still to come.
    func request(refusedWith fault: RequestFault?, length: Int) -> Request {
        request(fault.map { .refused($0) } ?? route, 0..<0, length: length, isWhole: false)
    }

    private func request(
        _ route: Request.Route,
        _ input: Range<Int>,
        length: Int,
        isWhole: Bool = true
    ) -> Request {
        let meaning = fields.meaning
        return Request(
            route: route, input: input, length: length, label: label, isHTTP11: line.isHTTP11,
            keepsConnection: isWhole && !meaning.closes && (line.isHTTP11 || meaning.keepsAlive) && !line.isTunnel,
            fields: fields
        )
    }
}

extension RequestFault {
    /// Bytes that are no request, or one that could be read in two ways.
    ///
    /// - Parameter place: Where that shows.
    static func notHTTP(_ place: String) -> RequestFault {
        .badRequest("The request is not HTTP/1.1 as RFC 9112 defines it: \(place).")
    }

    /// A body that is too large.
    fileprivate static func contentTooLarge(_ fault: String) -> RequestFault {
        RequestFault(
            .contentTooLarge, "The body \(fault); at most \(CheckBodyDecoder.maximumBodySize) bytes are read."
        )
    }
}
