/// What comes of a request.
enum Outcome {
    case now(Response)
    /// What answers it is made first.
    indirect case later(LaterAnswer)
}

/// The answer to a request, before it is written: what ``Responder`` returns and ``ResponseWriter`` writes.
enum Response: Sendable {
    /// The usual answer of a check, which nobody keeps: 200, and the body that ``Responder`` has just made.
    case check(revision: Int64?)
    /// A problem document, or what is sent in place of one.
    case problem(RequestFault)
    /// Any other; kept apart, so that the usual answer is small.
    indirect case other(ResponseHead, ResponseBody)

    /// An answer with a tag, if it has one: 304 without a body where the client has it already.
    ///
    /// - Parameter fields: Fields of its own, where it has a body.
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

    var status: Status {
        switch self {
        case .check: .ok
        case .problem(let fault): fault.status
        case .other(let head, _): head.status
        }
    }
}

/// What a response says, but for what every response says and for the connection.
struct ResponseHead: Sendable {
    var status = Status.ok
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
enum ResponseBody: Sendable {
    case none
    /// ``Responder`` has just made it.
    case answer
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

/// A status that the public listener answers with.
struct Status: Sendable, Hashable {
    let code: UInt16
    /// What stands behind the number.
    let reason: String

    static let ok = Status(code: 200, reason: "OK")
    static let created = Status(code: 201, reason: "Created")
    static let noContent = Status(code: 204, reason: "No Content")
    static let notModified = Status(code: 304, reason: "Not Modified")
    static let badRequest = Status(code: 400, reason: "Bad Request")
    static let unauthorized = Status(code: 401, reason: "Unauthorized")
    static let forbidden = Status(code: 403, reason: "Forbidden")
    static let notFound = Status(code: 404, reason: "Not Found")
    static let methodNotAllowed = Status(code: 405, reason: "Method Not Allowed")
    static let requestTimeout = Status(code: 408, reason: "Request Timeout")
    static let conflict = Status(code: 409, reason: "Conflict")
    static let contentTooLarge = Status(code: 413, reason: "Payload Too Large")
    static let uriTooLong = Status(code: 414, reason: "URI Too Long")
    static let unsupportedMediaType = Status(code: 415, reason: "Unsupported Media Type")
    static let unprocessableContent = Status(code: 422, reason: "Unprocessable Content")
    static let upgradeRequired = Status(code: 426, reason: "Upgrade Required")
    static let tooManyRequests = Status(code: 429, reason: "Too Many Requests")
    static let headerFieldsTooLarge = Status(code: 431, reason: "Request Header Fields Too Large")
    static let unavailable = Status(code: 503, reason: "Service Unavailable")
}
