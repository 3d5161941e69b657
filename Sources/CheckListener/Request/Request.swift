import UpdatePolicy

/// A request: what is asked, and where its parts lie among the bytes that begin with it.
struct Request {
    /// What is asked.
    enum Route {
        /// A check whose client is the JSON body.
        case checkBody(AnswerShape)
        /// A check whose client is the query.
        case checkQuery
        /// A document for another update client.
        case feed(FeedRequest)
        /// The question of a gateway whether a client is locked out.
        case gate(GateRequest)
        /// The question of a browser whether a page of another origin may ask.
        case preflight
        /// A release to record, and who sends it.
        indirect case release(token: String?)
        /// What cannot be answered, and why.
        case refused(RequestFault)
    }

    /// What is asked.
    var route: Route
    /// Where the body is, or of a question in the query that.
    var input: Range<Int>
    /// The body, where it came in chunks.
    var chunks: [UInt8]?
    /// How many bytes the request has; of one that is not whole, or is refused before it is, those of its head.
    var length: Int
    /// What metrics call it.
    let label: RequestLabel
    /// Whether the client speaks HTTP/1.1.
    let isHTTP11: Bool
    /// Whether the client wants to keep the connection, and can.
    var keepsConnection: Bool
    /// Its header fields.
    let fields: FieldSection

    /// The values of `X-Forwarded-For`.
    func forwardedFor(in bytes: UnsafeRawBufferPointer) -> [String] {
        fields.meaning.marks.contains(.forwardedFor) ? fields.values(of: "x-forwarded-for", in: bytes) : []
    }

    /// The answers that the client has already.
    func knownAnswers(in bytes: UnsafeRawBufferPointer) -> IfNoneMatch {
        IfNoneMatch(fields.meaning.marks.contains(.knownAnswers) ? fields.values(of: "if-none-match", in: bytes) : [])
    }
}

/// What metrics call a request.
struct RequestLabel {
    /// The route.
    var route = RequestKind.Route.other
    /// The method; a response to `HEAD` has no body.
    var method = RequestKind.Method.other
    /// What the response says about origins.
    var origin = AllowedOrigins.Match.nothing

    /// Whether it asks what a page of another origin may ask, of a server that says so.
    var isPreflight: Bool { method == .options && origin != .nothing }
    /// Whether it is the most frequent kind.
    var isCheck: Bool { route == .check && method == .post }
}

extension Request.Route {
    /// What a method asks of a target.
    ///
    /// - Parameter values: The values of the header fields of a name.
    /// - Returns: A fault, 404 or 405, for what is not served.
    init(_ method: String, _ target: RequestTarget, values: (StaticString) -> [String]) {
        switch (target.route, method) {
        case (.other, _): self = .refused(.notFound)
        case (.check, "POST"): self = .checkBody(.standard)
        case (.check, "GET"), (.check, "HEAD"): self = .checkQuery
        case (.legacyCheck, "POST"): self = .checkBody(.legacy)
        case (.gate, "GET"), (.gate, "HEAD"): self = .gate(GateRequest(target.query, values: values))
        case (.releases, "POST"): self = .release(token: SentRelease.token(in: values("authorization")))
        case (let route, _):
            if let subject = target.feed, method == "GET" || method == "HEAD" {
                self = .feed(FeedRequest(subject, target, values: values))
            } else {
                let detail = "The method \(method) is not served at this path; use \(route.methods)."
                self = .refused(RequestFault(.methodNotAllowed, detail, header: ("Allow", route.methods)))
            }
        }
    }

    /// Whether what is sent is read.
    var readsContent: Bool {
        switch self {
        case .checkBody, .checkQuery, .release: true
        case .feed, .gate, .preflight, .refused: false
        }
    }

    /// The same where it is a fault, or else a fault.
    func refused(with fault: RequestFault) -> Self {
        if case .refused = self { self } else { .refused(fault) }
    }
}

extension RequestKind.Route {
    /// The methods that it knows.
    fileprivate var methods: String {
        switch self {
        case .check: "GET, HEAD, POST"
        case .legacyCheck, .releases: "POST"
        case .gate, .feed, .lookup, .other: "GET, HEAD"
        }
    }
}
