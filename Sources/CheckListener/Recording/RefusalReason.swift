/// Why a request was refused or a connection was closed.
package enum RefusalReason: Int, Sendable, CaseIterable {
    /// The limit of connections was reached, and none was idle.
    case connections
    /// The connection was the longest idle one when a new one needed room.
    case evicted
    /// The limit of connections from one address was reached.
    case connectionsPerAddress
    /// The TLS handshake failed.
    case handshake
    /// The request was not HTTP/1.1, or could be read in two ways.
    case malformedRequest
    /// The request line was too long (414).
    case requestLineBytes
    /// The header fields were too large or too many (431).
    case headerBytes
    /// The body was too large (413).
    case bodyBytes
    /// The handshake or the head took too long (408, if any of the head had come).
    case headerTimeout
    /// The body took too long (408).
    case bodyTimeout
    /// The connection was silent for too long between two requests.
    case idleTimeout
    /// The client left its responses unread for too long, or sent too much meanwhile.
    case unreadTimeout
    /// The client left most unread of all, when there was more than is kept.
    case unreadBytes
    /// The address asked too often (429).
    case rateLimit

    /// A name for metrics, lower case with underscores.
    package var label: String {
        switch self {
        case .connections: "connections"
        case .evicted: "evicted"
        case .connectionsPerAddress: "connections_per_address"
        case .handshake: "handshake"
        case .malformedRequest: "malformed_request"
        case .requestLineBytes: "request_line_bytes"
        case .headerBytes: "header_bytes"
        case .bodyBytes: "body_bytes"
        case .headerTimeout: "header_timeout"
        case .bodyTimeout: "body_timeout"
        case .idleTimeout: "idle_timeout"
        case .unreadTimeout: "unread_timeout"
        case .unreadBytes: "unread_bytes"
        case .rateLimit: "rate_limit"
        }
    }

    /// The reason that a status stands for, if it stands for one alone.
    init?(status: ProblemStatus) {
        switch status {
        case .contentTooLarge: self = .bodyBytes
        case .uriTooLong: self = .requestLineBytes
        case .headerFieldsTooLarge: self = .headerBytes
        case .tooManyRequests: self = .rateLimit
        default: return nil
        }
    }
}

/// A status that the public listener answers with a problem document.
package enum ProblemStatus: Int, Sendable, CaseIterable {
    /// 400 Bad Request
    case badRequest
    /// 404 Not Found
    case notFound
    /// 405 Method Not Allowed
    case methodNotAllowed
    /// 408 Request Timeout
    case requestTimeout
    /// 413 Content Too Large
    case contentTooLarge
    /// 414 URI Too Long
    case uriTooLong
    /// 415 Unsupported Media Type
    case unsupportedMediaType
    /// 429 Too Many Requests
    case tooManyRequests
    /// 431 Request Header Fields Too Large
    case headerFieldsTooLarge
    /// 503 Service Unavailable
    case unavailable

    /// The status code.
    package var code: Int { Int(response.rawValue) }

    /// The status of a response.
    var response: Status {
        switch self {
        case .badRequest: .badRequest
        case .notFound: .notFound
        case .methodNotAllowed: .methodNotAllowed
        case .requestTimeout: .requestTimeout
        case .contentTooLarge: .contentTooLarge
        case .uriTooLong: .uriTooLong
        case .unsupportedMediaType: .unsupportedMediaType
        case .tooManyRequests: .tooManyRequests
        case .headerFieldsTooLarge: .headerFieldsTooLarge
        case .unavailable: .unavailable
        }
    }

    /// The status of a response; nil for one that is no problem of the public listener.
    init?(_ response: Status) {
        guard let status = Self.allCases.first(where: { $0.response == response }) else { return nil }
        self = status
    }
}
