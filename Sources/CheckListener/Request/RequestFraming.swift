import NIOHTTP1
import UpdatePolicy

/// The length of a request that the parser read and the use of the connection, as its head states them.
///
/// The parser refuses most of what could be read in two ways by itself; what it lets through ``RequestFields`` judges.
struct RequestFraming {
    /// What metrics call the method; a response to `HEAD` has no body.
    let method: RequestKind.Method
    /// Whether the client speaks HTTP/1.1.
    let isHTTP11: Bool
    /// Whether the client wants to keep the connection, and can.
    let isKeepAlive: Bool
    /// The length that the request says its body has: nil when the body is chunked, 0 when there is none.
    let declaredLength: Int?
    /// Whether the client waits for `100 Continue` before it sends the body.
    let expectsContinue: Bool
    /// Whether the body has a content encoding that is not `identity`.
    let isEncoded: Bool

    /// Whether a body follows the head.
    var hasBody: Bool { declaredLength != 0 }

    /// The framing that a head states.
    ///
    /// - Throws: Why the length of the request, or whom it is for, is not certain.
    init(_ head: HTTPRequestHead) throws(RequestFields.Irregularity) {
        var fields = RequestFields()
        for (name, value) in head.headers { name.withBytes { name in value.withBytes { _ = fields.take(name, $0) } } }
        method = RequestKind.Method(head.method)
        isHTTP11 = head.version == .http1_1
        // The parser stops after a request that asks for another protocol, which none is ever given.
        isKeepAlive = head.isKeepAlive && !fields.asksForUpgrade && head.method != .CONNECT
        declaredLength = fields.transferCodingCount > 0 ? nil : fields.contentLength
        expectsContinue = declaredLength != 0 && fields.expectation == .proceed
        isEncoded = fields.isEncoded
        if let irregularity = fields.irregularity(isHTTP11: isHTTP11) { throw irregularity }
    }
}
