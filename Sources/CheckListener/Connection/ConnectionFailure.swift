import NIOHTTP1
import NIOSSL

/// An error after which nothing more can be read from a connection.
enum ConnectionFailure {
    /// The bytes are not a request, or one that is too large: the response, and the reason in metrics where the status
    /// alone does not name it.
    case request(RequestFault, RefusalReason?)
    /// TLS failed.
    case tls
    /// Something else failed, mostly the connection itself.
    case connection

    init(_ error: any Error) {
        switch error {
        case HTTPParserError.headerOverflow:
            let detail = "The header fields of the request are too large or too many; send fewer."
            self = .request(RequestFault(.requestHeaderFieldsTooLarge, detail), nil)
        case HTTPParserError.paused:
            self = .request(.badRequest("The connection begins as HTTP/2; only HTTP/1.1 is served."), .malformedRequest)
        case HTTPParserError.unknown:
            self = .request(.badRequest("The request is not HTTP/1.1 as RFC 9112 defines it."), .malformedRequest)
        case let error as HTTPParserError:
            let detail = "The request is not HTTP/1.1 as RFC 9112 defines it: \(error)."
            self = .request(.badRequest(detail), .malformedRequest)
        case let fault as RequestFault:
            self = .request(fault, fault.status == .badRequest ? .malformedRequest : nil)
        case is NIOSSLError, is BoringSSLError:
            self = .tls
        default:
            self = .connection
        }
    }
}
