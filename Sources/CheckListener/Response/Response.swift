import NIOHTTP1

/// The answer to a request, before it is written: what a responder returns and ``ResponseWriter`` writes.
enum Response {
    /// The usual answer of a check, which nobody keeps: 200, and the body that ``CheckResponder`` has just made.
    case check(revision: Int64?)
    /// A problem document, or what is sent in place of one.
    case problem(RequestFault)
    /// Any other; kept apart, so that the usual answer is small.
    indirect case other(ResponseHead, ResponseBody)

    /// An answer with a tag, if it has one: 304 without a body where the client has it already.
    ///
    /// - Parameters:
    ///   - fields: Fields of its own, where it has a body.
    ///   - known: The answers that the client has.
    static func revalidatable(
        _ contentType: String,
        _ tag: EntityTag?,
        vary: [String] = [],
        fields: [(name: String, value: String)] = [],
        known: IfNoneMatch?,
        revision: Int64?,
        body: ResponseBody
    ) -> Response {
        var head = ResponseHead(tag: tag, vary: vary, revision: revision)
        if let tag, known?.contains(tag) == true {
            head.status = .notModified
            return .other(head, .none)
        }
        (head.contentType, head.fields) = (contentType, fields)
        return .other(head, body)
    }

    /// The status.
    var status: HTTPResponseStatus {
        switch self {
        case .check: .ok
        case .problem(let fault): fault.status
        case .other(let head, _): head.status
        }
    }
}

/// What came of a request.
enum ResponseOutcome {
    /// It is answered.
    case answered(Response)
    /// What answers it is to be made first.
    case awaits(DocumentQuestion)
}

/// What a response says, but for what every response says and for the connection.
struct ResponseHead {
    /// The status.
    var status = HTTPResponseStatus.ok
    /// The type of the body; nil where the response has none, and no length either.
    var contentType: String?
    /// The name of the content, by which caches may keep it as long as they ask each time whether it still holds; nil:
    /// nobody keeps it.
    var tag: EntityTag?
    /// The fields of the request that the content depends on.
    var vary: [String] = []
    /// Fields that belong to the status, or to this answer alone.
    var fields: [(name: String, value: String)] = []
    /// The revision of the policy that answers; nil where none does.
    var revision: Int64?
}

/// Where the body of a response is.
enum ResponseBody {
    /// It has none.
    case none
    /// ``CheckResponder`` has just made it.
    case answer
    /// Here.
    case bytes([UInt8])
}

/// What a response says about the connection.
enum ConnectionHeader: Equatable {
    /// Nothing: the connection stays open, as is usual in HTTP/1.1.
    case implied
    /// The connection stays open; an HTTP/1.0 client needs to see it.
    case keepAlive
    /// The connection ends after this response.
    case close
}
