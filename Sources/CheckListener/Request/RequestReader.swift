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
        case body(Request, BodyFraming)
    }

    private let origins: AllowedOrigins?
    private let takesReleases: Bool
    private var part: Part?

    /// Creates the reader of a connection.
    init(origins: AllowedOrigins? = nil, takesReleases: Bool = true) {
        (self.origins, self.takesReleases) = (origins, takesReleases)
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
        let progress = head.read(bytes)
        if progress == .whole, let request = head.usualRequest(in: bytes, origins) { return .request(request) }
        return read(head, progress, bytes)
    }

    @inline(never)
    private mutating func readOn(_ bytes: UnsafeRawBufferPointer) -> Reading {
        switch part {
        case .head(var head):
            part = nil
            let progress = head.read(bytes)
            return read(head, progress, bytes)
        case .body(let request, let framing):
            part = nil
            return read(framing, of: request, bytes)
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
        case .tooLarge: return .malformed(head.overflow, nil)
        }
        if let fault = head.fields.meaning.irregularity(isHTTP11: head.line.isHTTP11) {
            return .malformed(fault, .malformedRequest)
        }
        var request = head.request(in: bytes, origins, takesReleases: takesReleases)
        let framing = head.fields.meaning.framing
        if case .refused = request.route, framing.hasBody {
            request.keepsConnection = false
            return .request(request)
        }
        // HTTP/1.0 has no such response.
        if head.fields.meaning.marks.contains(.expectation), request.isHTTP11, framing.hasBody {
            part = .body(request, framing)
            return .waitsForContinue
        }
        return read(framing, of: request, bytes)
    }

    private mutating func read(
        _ framing: BodyFraming,
        of head: Request,
        _ bytes: UnsafeRawBufferPointer
    ) -> Reading {
        let start = head.length
        var request = head
        switch framing {
        case .length(let length):
            request.length = start + length
            guard bytes.count >= request.length else {
                part = .body(head, framing)
                return .incomplete
            }
            switch head.route {
            case .checkBody, .release: request.input = start..<request.length
            default: break
            }
        case .chunks(var chunks):
            switch chunks.read(bytes, from: start) {
            case .whole:
                request.length = start + chunks.length
                request.chunks = chunks.content
            case .incomplete:
                part = .body(head, .chunks(chunks))
                return .incomplete
            case .malformed: return .malformed(.notHTTP("the chunks of the body"), .malformedRequest)
            case .tooLarge:
                guard chunks.isContentTooLarge else { return .malformed(ChunkedBody.overheadFault, .malformedRequest) }
                request.route = .refused(.contentTooLarge("is too large"))
                request.keepsConnection = false
            }
        }
        return .request(request)
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
    /// The most bytes of the target and of the names and values of the fields together.
    private static let maximumSize = 16_384
    private static let maximumFields = 100

    private(set) var line = RequestLine()
    private(set) var fields = FieldSection()

    /// Reads on.
    @inline(__always)
    mutating func read(_ bytes: UnsafeRawBufferPointer) -> Progress {
        if line.length == 0 {
            let progress = line.read(bytes)
            guard progress == .whole else { return progress }
            fields = FieldSection(at: line.length, size: line.target.count)
        }
        return fields.read(bytes, maximumSize: Self.maximumSize, maximumCount: Self.maximumFields)
    }

    /// The request, where it is one that nearly all apps send, and whole.
    @inline(__always)
    func usualRequest(in bytes: UnsafeRawBufferPointer, _ origins: AllowedOrigins?) -> Request? {
        let meaning = fields.meaning
        guard line.form != .other, meaning.isUsual else { return nil }
        let bodyLength = meaning.contentLength
        guard bodyLength <= CheckBodyDecoder.maximumBodySize, bytes.count &- fields.position >= bodyLength else {
            return nil
        }
        let length = fields.position &+ bodyLength
        let isQuery = line.form == .checkQuery
        let kind = line.form == .legacyCheckBody ? RequestKind.Route.legacyCheck : .check
        return Request(
            route: isQuery ? .checkQuery : .checkBody(line.form == .legacyCheckBody ? .legacy : .standard),
            input: isQuery ? line.query : Range(uncheckedBounds: (fields.position, length)),
            length: length,
            label: RequestLabel(
                route: kind, method: isQuery ? .get : .post, origin: origins?.match(kind, fields, in: bytes) ?? .nothing
            ),
            isHTTP11: true, keepsConnection: !meaning.marks.contains(.close), fields: fields
        )
    }

    /// The request that it begins, where it can be read in one way.
    func request(
        in bytes: UnsafeRawBufferPointer,
        _ origins: AllowedOrigins?,
        takesReleases: Bool
    ) -> Request {
        let method = bytes.text(line.method)
        let target = RequestTarget(bytes.text(line.target), takesReleases: takesReleases)
        let label = RequestLabel(
            route: target.route, method: RequestKind.Method(rawValue: method) ?? .other,
            origin: origins?.match(target.route, fields, in: bytes) ?? .nothing
        )
        let (meaning, values) = (fields.meaning, { (name: StaticString) in fields.values(of: name, in: bytes) })
        var route = label.isPreflight ? .preflight : Request.Route(method, target, values: values)
        if meaning.marks.contains(.encoding), route.readsContent {
            let encoding = RequestFault.excerpt(values("content-encoding").joined(separator: ", ")[...])
            let detail = "The body has the content encoding \"\(encoding)\"; send it unencoded."
            route = .refused(RequestFault(.unsupportedMediaType, detail, header: ("Accept-Encoding", "identity")))
        } else if meaning.contentLength > CheckBodyDecoder.maximumBodySize {
            route = route.refused(with: .contentTooLarge("has \(meaning.contentLength) bytes"))
        }
        return Request(
            route: route, input: line.query, length: fields.position, label: label, isHTTP11: line.isHTTP11,
            keepsConnection: !meaning.marks.contains(.close) && (line.isHTTP11 || meaning.marks.contains(.keepAlive))
                && !line.isTunnel, fields: fields
        )
    }

    /// What is wrong with it.
    var fault: RequestFault {
        if line.length > 0 { return .notHTTP("a header field, or the end of a line") }
        if line.isPrefaceOfHTTP2 { return .badRequest("The connection begins as HTTP/2; only HTTP/1.1 is served.") }
        return .notHTTP("the request line")
    }

    /// What is too large of it.
    var overflow: RequestFault {
        guard line.length == 0 else {
            let detail = "The header fields of the request are too large or too many; send fewer."
            return RequestFault(.headerFieldsTooLarge, detail)
        }
        return RequestFault(
            .uriTooLong,
            "The request line is longer than \(RequestLine.maximumSize) bytes. Use POST for longer descriptions."
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
