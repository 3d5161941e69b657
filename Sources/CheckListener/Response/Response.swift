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

/// The statuses that the public listener answers with.
enum Status: UInt16, Sendable {
    case ok = 200
    case created = 201
    case noContent = 204
    case notModified = 304
    case badRequest = 400
    case unauthorized = 401
    case forbidden = 403
    case notFound = 404
    case methodNotAllowed = 405
    case requestTimeout = 408
    case conflict = 409
    case contentTooLarge = 413
    case uriTooLong = 414
    case unsupportedMediaType = 415
    case unprocessableContent = 422
    case upgradeRequired = 426
    case tooManyRequests = 429
    case headerFieldsTooLarge = 431
    case unavailable = 503

    /// What stands behind the number.
    var reason: String {
        switch self {
        case .ok: "OK"
        case .created: "Created"
        case .noContent: "No Content"
        case .notModified: "Not Modified"
        case .badRequest: "Bad Request"
        case .unauthorized: "Unauthorized"
        case .forbidden: "Forbidden"
        case .notFound: "Not Found"
        case .methodNotAllowed: "Method Not Allowed"
        case .requestTimeout: "Request Timeout"
        case .conflict: "Conflict"
        case .contentTooLarge: "Payload Too Large"
        case .uriTooLong: "URI Too Long"
        case .unsupportedMediaType: "Unsupported Media Type"
        case .unprocessableContent: "Unprocessable Content"
        case .upgradeRequired: "Upgrade Required"
        case .tooManyRequests: "Too Many Requests"
        case .headerFieldsTooLarge: "Request Header Fields Too Large"
        case .unavailable: "Service Unavailable"
        }
    }
}
