import UpdatePolicy

/// The first line of a request.
struct RequestLine {
    /// The lines of nearly all requests, which are known at a look.
    enum Form {
        case checkBody
        case legacyCheckBody
        case checkQuery
        /// Any other line.
        case other
    }

    /// The most bytes that it may have.
    static let maximumSize = 12_288

    private(set) var form = Form.other
    /// How many bytes it has; 0 as long as it is not whole.
    private(set) var length = 0
    private(set) var method = 0..<0
    private(set) var target = 0..<0
    /// What is behind the question mark of the target.
    private(set) var query = 0..<0
    private(set) var isHTTP11 = true
    /// Whether it asks for a connection to another server.
    private(set) var isTunnel = false
    /// Whether it is what connections of HTTP/2 begin with.
    private(set) var isPrefaceOfHTTP2 = false

    /// Reads the line; what has arrived of it is read again when more has.
    @inline(__always)
    mutating func read(_ bytes: UnsafeRawBufferPointer) -> Progress {
        if bytes.starts(with: "POST /v1/check HTTP/1.1\r\n") {
            take(.checkBody, methodLength: 4, length: 25)
        } else if bytes.starts(with: "GET /v1/check?") {
            let end = Self.endOfQueryLine(bytes)
            guard end > 0 else { return readAny(bytes) }
            take(.checkQuery, methodLength: 3, length: end)
            query = Range(uncheckedBounds: (14, target.upperBound))
        } else if bytes.starts(with: "POST /tables/vLoadMessages HTTP/1.1\r\n") {
            take(.legacyCheckBody, methodLength: 4, length: 37)
        } else {
            return readAny(bytes)
        }
        guard length &- 1 <= Self.maximumSize else {
            length = 0
            return .tooLarge
        }
        return .whole
    }

    private static var lineEnd: StaticString { " HTTP/1.1\r\n" }

    /// Takes over a line that ends with ``lineEnd``.
    @inline(__always)
    private mutating func take(_ form: Form, methodLength: Int, length: Int) {
        self.form = form
        self.length = length
        method = Range(uncheckedBounds: (0, methodLength))
        target = Range(uncheckedBounds: (methodLength &+ 1, length &- Self.lineEnd.utf8CodeUnitCount))
    }

    /// Where the line of a check by its query ends; 0 where it is not a usual one.
    private static func endOfQueryLine(_ bytes: UnsafeRawBufferPointer) -> Int {
        var end = 14
        while end < bytes.count, isQueryByte(bytes[end]) { end &+= 1 }
        let rest = UnsafeRawBufferPointer(rebasing: bytes[end...])
        return rest.starts(with: lineEnd) ? end &+ lineEnd.utf8CodeUnitCount : 0
    }

    /// Whether a byte may stand in a query ([RFC 3986, 3.4](https://www.rfc-editor.org/rfc/rfc3986#section-3.4)) as it is:
    /// that of a part of a URI, or % : @ / ?
    @inline(__always)
    private static func isQueryByte(_ byte: UInt8) -> Bool {
        ByteSet(low: 0xAFFF_FFF2_0000_0000, high: 0x47FF_FFFE_87FF_FFFF).contains(byte)
    }

    // MARK: Any line

    /// The methods there are, for those who read requests before this server does: another one could mean another framing.
    private static let methods: Set<String> = [
        "ACL", "BIND", "CHECKOUT", "CONNECT", "COPY", "DELETE", "GET", "HEAD", "LINK", "LOCK", "M-SEARCH", "MERGE",
        "MKACTIVITY", "MKCALENDAR", "MKCOL", "MOVE", "NOTIFY", "OPTIONS", "PATCH", "POST", "PROPFIND", "PROPPATCH",
        "PURGE", "PUT", "QUERY", "REBIND", "REPORT", "SEARCH", "SOURCE", "SUBSCRIBE", "TRACE", "UNBIND", "UNLINK",
        "UNLOCK", "UNSUBSCRIBE",
    ]
    private static let longestMethod = 11

    @inline(never)
    private mutating func readAny(_ bytes: UnsafeRawBufferPointer) -> Progress {
        // The line feed may be the byte at the limit.
        let limit = Self.maximumSize
        let last = min(bytes.count, limit)
        let atEnd = bytes.count > limit ? Progress.tooLarge : .incomplete

        var end = 0
        while end < last, Self.isMethodByte(bytes[end]), end <= Self.longestMethod { end += 1 }
        guard end < last else { return atEnd }
        method = 0..<end
        let name = bytes.text(method)
        isPrefaceOfHTTP2 = name == "PRI"
        guard bytes[end] == 0x20, Self.methods.contains(name) else { return .malformed }
        isTunnel = name == "CONNECT"

        let start = end + 1
        end = start
        while end < last, (0x21...0x7E).contains(bytes[end]) { end += 1 }
        guard end < last else { return atEnd }
        target = start..<end
        guard bytes[end] == 0x20, isTargetValid(bytes) else { return .malformed }

        for offset in 0..<Self.lineEnd.utf8CodeUnitCount {
            guard end <= limit else { return .tooLarge }
            guard end < bytes.count else { return .incomplete }
            if bytes[end] != Self.lineEnd.utf8Start[offset] {
                guard offset == 8, bytes[end] == UInt8(ascii: "0") else { return .malformed }
                isHTTP11 = false
            }
            end += 1
        }
        length = end
        return .whole
    }

    @inline(__always)
    private static func isMethodByte(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) || byte == UInt8(ascii: "-")
    }

    /// Whether the target has one of the four forms, and notes its query
    /// ([RFC 9112, 3.2](https://www.rfc-editor.org/rfc/rfc9112#section-3.2)).
    private mutating func isTargetValid(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let text = UnsafeRawBufferPointer(rebasing: bytes[target])
        let mark = text.firstIndex(of: UInt8(ascii: "?")) ?? text.count
        query = min(target.lowerBound + mark + 1, target.upperBound)..<target.upperBound
        if isTunnel { return !text.isEmpty && HostField.isValid(text) }
        if text.first == UInt8(ascii: "/") { return true }
        if text.count == 1, text.first == UInt8(ascii: "*") { return true }
        let scheme = text.prefix { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0 | 0x20) }.count
        guard scheme > 0, text.dropFirst(scheme).starts(with: "://".utf8) else { return false }
        let rest = text.dropFirst(scheme + 3)
        let authority = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
        return !authority.isEmpty && HostField.isValid(UnsafeRawBufferPointer(rebasing: authority))
    }
}
