/// The header fields of a request that say where it ends, whom it is for and what becomes of the connection.
///
/// This is the one place that knows what they may be. Whoever splits a head into fields, ``ExpressRequest`` or the parser,
/// hands over each, and asks afterwards what all of them mean.
struct RequestFields {
    /// What makes a head one that servers and proxies may understand differently.
    enum Irregularity: Error {
        /// A coding other than `chunked`, twice `chunked`, none, or any in HTTP/1.0.
        case transferCoding
        /// A length that is no number, or one of more than 63 bits.
        case contentLength
        /// HTTP/1.1 without a `Host`, more than one, or one that names no host.
        case host
    }

    /// The fields that whoever reads them may want to keep.
    enum Field {
        /// `If-None-Match`.
        case knownAnswers
        /// `X-Forwarded-For`.
        case forwardedFor
        /// Any other.
        case other
    }

    /// What the fields `Connection` say.
    enum Connection {
        /// Nothing, or `keep-alive`.
        case keepAlive
        /// `close`.
        case close
        /// Anything else: the parser knows more of it.
        case other
    }

    /// What the field `Expect` says.
    enum Expectation {
        case none
        /// `100-continue`.
        case proceed
        case other
    }

    /// How many fields `Content-Length` there are.
    private(set) var lengthCount = 0
    /// The length of the body in bytes; 0 where the request says none.
    private(set) var contentLength = 0
    /// How many fields `Transfer-Encoding` there are.
    private(set) var transferCodingCount = 0
    private(set) var connection = Connection.keepAlive
    private(set) var expectation = Expectation.none
    /// Whether the request asks for another protocol.
    private(set) var asksForUpgrade = false
    /// Whether there is a content encoding other than `identity`.
    private(set) var isEncoded = false
    private var hostCount = 0
    private var isHostValid = true
    private var isLengthValid = true
    private var isChunked = false

    /// Takes over a field.
    ///
    /// - Parameters:
    ///   - name: Its name, a token of [RFC 9110, 5.6.2](https://www.rfc-editor.org/rfc/rfc9110#section-5.6.2).
    ///   - value: Its value from the first character on.
    /// - Returns: Which one it is.
    @inline(__always)
    mutating func take(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Field {
        switch name.count {
        case 4 where name.isToken("host"):
            hostCount &+= 1
            isHostValid = HostField.isValid(value)
        case 14 where name.isToken("content-length"): takeContentLength(value)
        case 6, 7, 10, 13, 15, 16, 17: return takeOther(name, value)
        default: break
        }
        return .other
    }

    /// Takes over a field that a check seldom has.
    @inline(never)
    private mutating func takeOther(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Field {
        switch name.count {
        case 6 where name.isToken("expect"): expectation = value.isWord("100-continue") ? .proceed : .other
        case 7 where name.isToken("upgrade"): asksForUpgrade = true
        case 10 where name.isToken("connection"): takeConnection(value)
        case 13 where name.isToken("if-none-match"): return .knownAnswers
        case 15 where name.isToken("x-forwarded-for"): return .forwardedFor
        case 16 where name.isToken("content-encoding"): if !value.isWord("identity") { isEncoded = true }
        // The parser reads it like `Connection`.
        case 16 where name.isToken("proxy-connection"): connection = .other
        case 17 where name.isToken("transfer-encoding"):
            transferCodingCount += 1
            isChunked = value.isWord("chunked")
        default: break
        }
        return .other
    }

    private mutating func takeConnection(_ value: UnsafeRawBufferPointer) {
        if connection == .other || value.isWord("keep-alive") { return }
        connection = value.isWord("close") ? .close : .other
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
        if transferCodingCount > 0, transferCodingCount > 1 || !isChunked || !isHTTP11 { return .transferCoding }
        if !isLengthValid { return .contentLength }
        if hostCount > 1 || hostCount == 0 && isHTTP11 || !isHostValid { return .host }
        return nil
    }

    /// Whether an HTTP/1.1 request with these fields is certain to be read alike by everybody, and has no more to it than
    /// a head and a body of known length.
    @inline(__always)
    var isPlain: Bool {
        irregularity(isHTTP11: true) == nil && transferCodingCount == 0 && lengthCount <= 1 && connection != .other
            && expectation == .none && !asksForUpgrade && !isEncoded
    }
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

extension UnsafeRawBufferPointer {
    /// Whether these bytes are a token in lower case, when the case of their ASCII letters is left out.
    ///
    /// The bytes must be those of a token, and the other letters and hyphens: then no other character becomes one of these
    /// when its bit of case is set.
    @inline(__always)
    fileprivate func isToken(_ lowercased: StaticString) -> Bool {
        let length = lowercased.utf8CodeUnitCount
        guard count == length else { return false }
        let name = UnsafeRawPointer(lowercased.utf8Start)
        var offset = 0
        while offset &+ 8 <= length {
            let word = loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            let other = name.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            if word | 0x2020_2020_2020_2020 != other { return false }
            offset &+= 8
        }
        while offset < length {
            if self[offset] | 0x20 != name.load(fromByteOffset: offset, as: UInt8.self) { return false }
            offset &+= 1
        }
        return true
    }

    /// Whether any bytes are a word in lower case, when the case of their ASCII letters is left out.
    fileprivate func isWord(_ lowercased: StaticString) -> Bool {
        guard count == lowercased.utf8CodeUnitCount else { return false }
        for offset in 0..<count {
            let isUpper = self[offset] &- UInt8(ascii: "A") < 26
            guard (isUpper ? self[offset] | 0x20 : self[offset]) == lowercased.utf8Start[offset] else { return false }
        }
        return true
    }
}
