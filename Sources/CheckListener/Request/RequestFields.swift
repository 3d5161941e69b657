/// What the header fields of a request say that decides where it ends, whom it is for and what becomes of the connection.
///
/// This is the one place that knows what they may be.
struct RequestFields: Equatable {
    /// What makes a head one that servers and proxies may understand differently.
    enum Irregularity: Error {
        /// A coding other than `chunked`, twice `chunked`, none, any in HTTP/1.0, or one beside a length.
        case transferCoding
        /// A length that is no number, one of more than 63 bits, or more than one.
        case contentLength
        /// HTTP/1.1 without a `Host`, more than one, or one that names no host.
        case host
    }

    /// The length of the body in bytes; 0 where the request says none.
    private(set) var contentLength = 0
    /// Whether the connection ends after the request: the client says so, or asks for another protocol, which none is ever
    /// given.
    private(set) var closes = false
    /// Whether the client says that the connection goes on, as an HTTP/1.0 client must.
    private(set) var keepsAlive = false
    /// Whether the client waits for `100 Continue`.
    private(set) var expectsContinue = false
    /// Whether there is a content encoding other than `identity`.
    private(set) var isEncoded = false
    /// Whether there is a field `X-Forwarded-For`.
    private(set) var hasForwardedFor = false
    /// Whether there is a field `If-None-Match`.
    private(set) var hasKnownAnswers = false
    private var lengthCount = 0
    private var transferCodingCount = 0
    private var hostCount = 0
    private var isHostValid = true
    private var isLengthValid = true
    private var isChunked = false

    /// Takes over a field.
    ///
    /// - Parameters:
    ///   - name: Its name, a token of [RFC 9110, 5.6.2](https://www.rfc-editor.org/rfc/rfc9110#section-5.6.2).
    ///   - value: Its value from the first character on.
    @inline(__always)
    mutating func take(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
        switch name.count {
        case 4 where name.isToken("host"):
            hostCount &+= 1
            isHostValid = HostField.isValid(value)
        case 14 where name.isToken("content-length"): takeContentLength(value)
        case 6, 7, 10, 13, 15, 16, 17: takeOther(name, value)
        default: break
        }
    }

    /// Takes over a field that a check seldom has.
    @inline(never)
    private mutating func takeOther(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
        switch name.count {
        case 6 where name.isToken("expect"): expectsContinue = value.isWord("100-continue")
        case 7 where name.isToken("upgrade"): closes = true
        case 10 where name.isToken("connection"): takeConnection(value)
        case 13 where name.isToken("if-none-match"): hasKnownAnswers = true
        case 15 where name.isToken("x-forwarded-for"): hasForwardedFor = true
        case 16 where name.isToken("content-encoding"): if !value.isWord("identity") { isEncoded = true }
        // Some proxies read it like `Connection`.
        case 16 where name.isToken("proxy-connection"): takeConnection(value)
        case 17 where name.isToken("transfer-encoding"):
            transferCodingCount += 1
            isChunked = value.isWord("chunked")
        default: break
        }
    }

    private mutating func takeConnection(_ value: UnsafeRawBufferPointer) {
        var start = 0
        while start < value.count {
            let end = value[start...].firstIndex(of: UInt8(ascii: ",")) ?? value.count
            let option = value.part(start, end).trimmingBlanks
            if option.isWord("close") { closes = true }
            if option.isWord("keep-alive") { keepsAlive = true }
            start = end + 1
        }
    }

    private mutating func takeContentLength(_ value: UnsafeRawBufferPointer) {
        lengthCount &+= 1
        contentLength = 0
        isLengthValid = !value.isEmpty
        for byte in value {
            let digit = Int(byte &- UInt8(ascii: "0"))
            let (tens, isTooLarge) = contentLength.multipliedReportingOverflow(by: 10)
            let (sum, isTooLargeNow) = tens.addingReportingOverflow(digit)
            guard digit < 10, !isTooLarge, !isTooLargeNow else {
                isLengthValid = false
                return
            }
            contentLength = sum
        }
    }

    /// Why the length of the request, or whom it is for, is not certain; nil when both are.
    @inline(__always)
    func irregularity(isHTTP11: Bool) -> Irregularity? {
        if transferCodingCount > 0, transferCodingCount > 1 || lengthCount > 0 || !isChunked || !isHTTP11 {
            return .transferCoding
        }
        if lengthCount > 1 || !isLengthValid { return .contentLength }
        if hostCount > 1 || hostCount == 0 && isHTTP11 || !isHostValid { return .host }
        return nil
    }

    /// Whether an HTTP/1.1 request with these fields is certain, and has no more to it than a head and a body of known length.
    @inline(__always)
    var isUsual: Bool {
        irregularity(isHTTP11: true) == nil && transferCodingCount == 0 && !expectsContinue && !isEncoded
    }

    /// Where the body ends.
    var framing: BodyFraming { transferCodingCount > 0 ? .chunks(ChunkedBody()) : .length(contentLength) }
}

extension RequestFields.Irregularity {
    /// The response to the client.
    var fault: RequestFault {
        switch self {
        case .transferCoding:
            .badRequest(
                "The request has a Transfer-Encoding that is not read; send Content-Length, or \"chunked\" in HTTP/1.1."
            )
        case .contentLength:
            .badRequest("The Content-Length of the request is no number, or too large; send that of the body in bytes.")
        case .host:
            .badRequest("The request must have the header field Host once, with a host and perhaps a port in it.")
        }
    }
}
