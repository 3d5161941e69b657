import NIOCore
import NIOHTTP1
import UpdatePolicy

/// A request whose head was accepted, with the part of its body that has arrived.
struct ParsedRequest {
    /// The framing of the request, which decides whether the connection stays open.
    let framing: RequestFraming
    /// What is asked.
    let route: RequestRoute
    private var body: ByteBuffer?

    /// Accepts a head.
    ///
    /// - Throws: 404, 405, 413 or 415.
    init(_ head: HTTPRequestHead, framing: RequestFraming) throws(RequestFault) {
        self.framing = framing
        route = try RequestRoute(head)
        if framing.isEncoded, route.isCheck {
            let encoding = head.headers["content-encoding"].joined(separator: ", ")
            throw RequestFault(
                .unsupportedMediaType,
                "The body has the content encoding \"\(RequestFault.excerpt(encoding[...]))\"; send it unencoded.",
                header: ("Accept-Encoding", "identity")
            )
        }
        if let length = framing.declaredLength, length > CheckBodyDecoder.maximumBodySize {
            throw Self.contentTooLarge("has \(length) bytes")
        }
    }

    /// Takes the next piece of the body.
    ///
    /// - Throws: 413.
    mutating func append(_ bytes: ByteBuffer) throws(RequestFault) {
        var bytes = bytes
        if body?.writeBuffer(&bytes) == nil {
            body = bytes
        }
        if content.readableBytes > CheckBodyDecoder.maximumBodySize {
            throw Self.contentTooLarge("is too large")
        }
    }

    /// The body.
    var content: ByteBuffer { body ?? ByteBuffer() }

    /// What metrics call it.
    var label: RequestLabel { RequestLabel(route: route.kind, method: framing.method) }

    private static func contentTooLarge(_ fault: String) -> RequestFault {
        RequestFault(.payloadTooLarge, "The body \(fault); at most \(CheckBodyDecoder.maximumBodySize) bytes are read.")
    }
}

/// The route of a request, with its input; as small as a reference, as a connection hands it on several times.
indirect enum RequestRoute {
    /// A check whose client is the JSON body.
    case checkBody(AnswerShape)
    /// A check whose client is the query, and the answers that it has already.
    case checkQuery(Substring, IfNoneMatch)
    /// A document for another update client.
    case feed(FeedRequest)
    /// The question of a gateway whether a client is locked out.
    case gate(GateRequest)

    /// The route of a request.
    ///
    /// - Throws: 404 for a path that is not served, 405 for a method that the path does not know.
    init(_ head: HTTPRequestHead) throws(RequestFault) {
        let method = head.method
        let target = RequestTarget(head.uri)
        guard let path = target.path else {
            throw RequestFault(.notFound, "There is nothing at this path; checks go to /v1/check.")
        }
        switch (path, method) {
        case (.check, .POST): self = .checkBody(.standard)
        case (.check, .GET), (.check, .HEAD):
            self = .checkQuery(target.query, IfNoneMatch(head.headers["if-none-match"]))
        case (.check, _): throw Self.methodNotAllowed(method, allowed: "GET, HEAD, POST")
        case (.legacyCheck, .POST): self = .checkBody(.legacy)
        case (.legacyCheck, _): throw Self.methodNotAllowed(method, allowed: "POST")
        case (.gate, .GET), (.gate, .HEAD): self = .gate(GateRequest(target.query, head.headers))
        case (.feed(let subject), .GET), (.feed(let subject), .HEAD):
            self = .feed(FeedRequest(subject, target: head.uri, query: target.query, head.headers))
        case (.gate, _), (.feed, _): throw Self.methodNotAllowed(method, allowed: "GET, HEAD")
        }
    }

    /// Whether what is sent is read as a check.
    var isCheck: Bool {
        switch self {
        case .checkBody, .checkQuery: true
        case .feed, .gate: false
        }
    }

    /// What metrics call the route.
    var kind: RequestKind.Route {
        switch self {
        case .checkBody(.standard), .checkQuery: .check
        case .checkBody(.legacy): .legacyCheck
        case .feed(let request): request.subject.kind
        case .gate: .gate
        }
    }

    private static func methodNotAllowed(_ method: HTTPMethod, allowed: String) -> RequestFault {
        RequestFault(
            .methodNotAllowed, "The method \(method.rawValue) is not served at this path; use \(allowed).",
            header: ("Allow", allowed)
        )
    }
}
