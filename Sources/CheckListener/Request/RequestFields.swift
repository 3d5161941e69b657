/// What the header fields of a request say that decides where it ends, whom it is for and what becomes of the connection.
///
/// This is the one place that knows what they may be.
struct RequestFields: Equatable {
    /// What the fields say beside the length of the body.
    struct Marks: OptionSet {
        let rawValue: UInt16

        static let host = Marks(rawValue: 1)
        static let wrongHost = Marks(rawValue: 1 << 1)
        static let length = Marks(rawValue: 1 << 2)
        static let wrongLength = Marks(rawValue: 1 << 3)
        static let coding = Marks(rawValue: 1 << 4)
        static let wrongCoding = Marks(rawValue: 1 << 5)
        /// The client waits for `100 Continue`.
        static let expectation = Marks(rawValue: 1 << 6)
        /// There is a content encoding other than `identity`.
        static let encoding = Marks(rawValue: 1 << 7)
        /// The connection ends after the request: the client says so, or asks for another protocol, which none is ever given.
        static let close = Marks(rawValue: 1 << 8)
        /// The client says that the connection goes on, as an HTTP/1.0 client must.
        static let keepAlive = Marks(rawValue: 1 << 9)
        static let forwardedFor = Marks(rawValue: 1 << 10)
        static let knownAnswers = Marks(rawValue: 1 << 11)
        static let origin = Marks(rawValue: 1 << 12)

        /// Those that a usual request has none of, but for the host, which it has.
        fileprivate static var unusual: Marks {
            [.host, .wrongHost, .wrongLength, .coding, .wrongCoding, .expectation, .encoding]
        }
    }

    private(set) var marks: Marks = []
    /// The length of the body in bytes; 0 where the request says none.
    private(set) var contentLength = 0

    /// Takes over a field.
    ///
    /// - Parameters:
    ///   - name: Its name, a token of [RFC 9110, 5.6.2](https://www.rfc-editor.org/rfc/rfc9110#section-5.6.2).
    ///   - value: Its value from the first character on.
    @inline(__always)
    mutating func take(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
        switch name.count {
        case 4 where name.isToken("host"):
            if marks.contains(.host) || !HostField.isValid(value) { marks.insert(.wrongHost) }
            marks.insert(.host)
        case 14 where name.isToken("content-length"): takeContentLength(value)
        case 6, 7, 10, 13, 15, 16, 17: takeOther(name, value)
        default: break
        }
    }

    /// Takes over a field that a check seldom has.
    @inline(never)
    private mutating func takeOther(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
        switch name.count {
        case 6 where name.isToken("expect"): if value.isWord("100-continue") { marks.insert(.expectation) }
        case 6 where name.isToken("origin"): marks.insert(.origin)
        case 7 where name.isToken("upgrade"): marks.insert(.close)
        // Some proxies read the second like the first.
        case 10 where name.isToken("connection"), 16 where name.isToken("proxy-connection"): takeConnection(value)
        case 13 where name.isToken("if-none-match"): marks.insert(.knownAnswers)
        case 15 where name.isToken("x-forwarded-for"): marks.insert(.forwardedFor)
        case 16 where name.isToken("content-encoding"): if !value.isWord("identity") { marks.insert(.encoding) }
        case 17 where name.isToken("transfer-encoding"):
            if marks.contains(.coding) || !value.isWord("chunked") { marks.insert(.wrongCoding) }
            marks.insert(.coding)
        default: break
        }
    }

    private mutating func takeConnection(_ value: UnsafeRawBufferPointer) {
        if takeOption(value) { return }
        var start = 0
        while start < value.count {
            let end = value[start...].firstIndex(of: UInt8(ascii: ",")) ?? value.count
            _ = takeOption(UnsafeRawBufferPointer(rebasing: value[start..<end].trimmingBlanks))
            start = end + 1
        }
    }

    /// - Returns: Whether it is one that this server knows.
    private mutating func takeOption(_ option: UnsafeRawBufferPointer) -> Bool {
        if option.isWord("keep-alive") {
            marks.insert(.keepAlive)
        } else if option.isWord("close") {
            marks.insert(.close)
        } else {
            return false
        }
        return true
    }

    private mutating func takeContentLength(_ value: UnsafeRawBufferPointer) {
        if marks.contains(.length) || value.isEmpty { marks.insert(.wrongLength) }
        marks.insert(.length)
        contentLength = 0
        for byte in value {
            let digit = Int(byte &- UInt8(ascii: "0"))
            let (tens, isTooLarge) = contentLength.multipliedReportingOverflow(by: 10)
            let (sum, isTooLargeNow) = tens.addingReportingOverflow(digit)
            guard digit < 10, !isTooLarge, !isTooLargeNow else {
                marks.insert(.wrongLength)
                return
            }
            contentLength = sum
        }
    }

    /// Why the length of the request, or whom it is for, is not certain, so that servers and proxies may understand it
    /// differently; nil when both are.
    func irregularity(isHTTP11: Bool) -> RequestFault? {
        // A coding other than `chunked`, twice `chunked`, none, any in HTTP/1.0, or one beside a length.
        if marks.contains(.coding), !isHTTP11 || !marks.isDisjoint(with: [.wrongCoding, .length]) {
            return .badRequest(
                "The request has a Transfer-Encoding that is not read; send Content-Length, or \"chunked\" in HTTP/1.1."
            )
        }
        // A length that is no number, one of more than 63 bits, or more than one.
        if marks.contains(.wrongLength) {
            return .badRequest(
                "The Content-Length of the request is not a number, or too large; send that of the body in bytes."
            )
        }
        // HTTP/1.1 without a `Host`, more than one, or one that names no host.
        if marks.contains(.wrongHost) || isHTTP11 && !marks.contains(.host) {
            return .badRequest(
                "The request must have the header field Host once, with a host and perhaps a port in it.")
        }
        return nil
    }

    /// Whether an HTTP/1.1 request with these fields is certain, and has no more to it than a head and a body of known length.
    @inline(__always)
    var isUsual: Bool { marks.intersection(.unusual) == .host }

    /// Where the body ends.
    var framing: BodyFraming { marks.contains(.coding) ? .chunks(ChunkedBody()) : .length(contentLength) }
}
