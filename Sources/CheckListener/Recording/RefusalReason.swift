/// Why a request was refused or a connection was closed; the raw value is its label in metrics.
package enum RefusalReason: String, Sendable, CaseIterable {
    /// The limit of connections was reached, and none was idle.
    case connections
    /// The connection was the longest idle one when a new one needed room.
    case evicted
    /// The limit of connections from one address was reached.
    case connectionsPerAddress = "connections_per_address"
    /// The TLS handshake failed.
    case handshake
    /// The request was not HTTP/1.1, or could be read in two ways.
    case malformedRequest = "malformed_request"
    /// The request line was too long (414).
    case requestLineBytes = "request_line_bytes"
    /// The header fields were too large or too many (431).
    case headerBytes = "header_bytes"
    /// The body was too large (413).
    case bodyBytes = "body_bytes"
    /// The handshake or the head took too long (408, if any of the head had come).
    case headerTimeout = "header_timeout"
    /// The body took too long (408).
    case bodyTimeout = "body_timeout"
    /// The connection was silent for too long between two requests.
    case idleTimeout = "idle_timeout"
    /// The client left its responses unread for too long, or sent too much meanwhile.
    case unreadTimeout = "unread_timeout"
    /// The client left most unread of all, when there was more than is kept.
    case unreadBytes = "unread_bytes"
    /// The address asked too often (429).
    case rateLimit = "rate_limit"

    /// The reason that a status stands for, if it stands for one alone.
    init?(status: Status) {
        switch status {
        case .contentTooLarge: self = .bodyBytes
        case .uriTooLong: self = .requestLineBytes
        case .headerFieldsTooLarge: self = .headerBytes
        case .tooManyRequests: self = .rateLimit
        default: return nil
        }
    }
}
