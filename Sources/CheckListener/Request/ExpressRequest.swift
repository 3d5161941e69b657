import UpdatePolicy

/// A plain request that is whole in the bytes of one read, recognised in one pass and without the parser.
///
/// Nearly every check is one: `POST /v1/check HTTP/1.1`, header fields of plain form, one `Content-Length`, the body
/// complete. To recognise it costs a tenth of the instructions that the parser and its header fields cost.
///
/// It splits a head into its fields, as the parser does; what they mean ``RequestFields`` says to both. In any doubt it
/// accepts nothing, and the bytes go to the parser untouched.
struct ExpressRequest {
    /// What is asked.
    enum Route {
        /// A check whose client is the JSON body.
        case checkBody
        /// The same, by the path of 2013.
        case legacyCheckBody
        /// A check whose client is the query.
        case checkQuery
    }

    /// What is asked.
    let route: Route
    /// Where the body is, or of a `GET` the query.
    let input: Range<Int>
    /// How many bytes the request has.
    let length: Int
    /// Whether the client wants to keep the connection.
    let isKeepAlive: Bool
    private let forwardedFor: FieldValue
    private let knownAnswers: FieldValue

    /// Recognises the request at the start of some bytes; nil where there is none, or none that is plain.
    init?(_ bytes: UnsafeRawBufferPointer, limits: ConnectionLimits) {
        let (route, lineEnd) = Self.requestLine(bytes)
        guard lineEnd > 0, lineEnd <= limits.requestLineBytes else { return nil }
        var head = PlainHead(bytes, position: lineEnd)
        guard head.scan(), head.count <= limits.headerFields, head.position <= limits.headerBytes else { return nil }
        self.route = route
        let bodyLength = head.fields.contentLength
        if route == .checkQuery {
            guard bodyLength == 0 else { return nil }
            input = Range(uncheckedBounds: (Self.queryStart, lineEnd &- Self.queryLineEnd.utf8CodeUnitCount))
            length = head.position
        } else {
            guard head.fields.lengthCount == 1, bodyLength <= CheckBodyDecoder.maximumBodySize,
                bytes.count &- head.position >= bodyLength
            else { return nil }
            length = head.position &+ bodyLength
            input = Range(uncheckedBounds: (head.position, length))
        }
        isKeepAlive = head.fields.connection == .keepAlive
        forwardedFor = head.forwardedFor
        knownAnswers = head.knownAnswers
    }

    /// The values of `X-Forwarded-For`.
    func forwardedFor(in bytes: UnsafeRawBufferPointer) -> [String] { forwardedFor.values(in: bytes) }

    /// The answers that the client has already; nil where the answer may not be cached.
    func knownAnswers(in bytes: UnsafeRawBufferPointer) -> IfNoneMatch? {
        route == .checkQuery ? IfNoneMatch(knownAnswers.values(in: bytes)) : nil
    }

    /// The names that the answer uses.
    var shape: AnswerShape { route == .legacyCheckBody ? .legacy : .standard }

    /// What metrics call it.
    var label: RequestLabel {
        RequestLabel(
            route: route == .legacyCheckBody ? .legacyCheck : .check,
            method: route == .checkQuery ? .get : .post
        )
    }

    // MARK: The request line

    private static let queryStart = 14
    private static var queryLineEnd: StaticString { " HTTP/1.1\r\n" }

    /// The route, and where the first header field begins; 0 where the line is not plain.
    @inline(__always)
    private static func requestLine(_ bytes: UnsafeRawBufferPointer) -> (Route, Int) {
        if bytes.starts(with: "POST /v1/check HTTP/1.1\r\n") { return (.checkBody, 25) }
        if bytes.starts(with: "GET /v1/check?") { return (.checkQuery, endOfQueryLine(bytes)) }
        if bytes.starts(with: "POST /tables/vLoadMessages HTTP/1.1\r\n") { return (.legacyCheckBody, 37) }
        return (.checkBody, 0)
    }

    private static func endOfQueryLine(_ bytes: UnsafeRawBufferPointer) -> Int {
        var end = queryStart
        while end < bytes.count, isQueryByte(bytes[end]) { end &+= 1 }
        let rest = UnsafeRawBufferPointer(rebasing: bytes[end...])
        return rest.starts(with: queryLineEnd) ? end &+ queryLineEnd.utf8CodeUnitCount : 0
    }

    /// Whether a byte may stand in a query ([RFC 3986, 3.4](https://www.rfc-editor.org/rfc/rfc3986#section-3.4)).
    @inline(__always)
    private static func isQueryByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: ";"),
            UInt8(ascii: "?")...UInt8(ascii: "Z"), UInt8(ascii: "$")...UInt8(ascii: "/"), UInt8(ascii: "!"),
            UInt8(ascii: "="), UInt8(ascii: "_"), UInt8(ascii: "~"):
            true
        default: false
        }
    }
}

/// Where the value of a field is that may stand in a request once, if it does.
private struct FieldValue {
    private var start: Int32 = -1
    private var end: Int32 = -1

    /// Takes over a value; `false` where there was one before.
    mutating func set(_ range: Range<Int>) -> Bool {
        guard start < 0 else { return false }
        start = Int32(truncatingIfNeeded: range.lowerBound)
        end = Int32(truncatingIfNeeded: range.upperBound)
        return true
    }

    func values(in bytes: UnsafeRawBufferPointer) -> [String] {
        start < 0 ? [] : [String(decoding: bytes[Int(start)..<Int(end)], as: UTF8.self)]
    }
}

/// The head of a request behind its first line, split into fields.
private struct PlainHead {
    private let bytes: UnsafeRawBufferPointer
    /// Where the next field begins; in the end, where the body does.
    private(set) var position: Int
    private(set) var count = 0
    private(set) var fields = RequestFields()
    private(set) var forwardedFor = FieldValue()
    private(set) var knownAnswers = FieldValue()

    init(_ bytes: UnsafeRawBufferPointer, position: Int) {
        self.bytes = bytes
        self.position = position
    }

    /// Reads all fields and the empty line behind them; `false` where one is not plain, or some are missing.
    mutating func scan() -> Bool {
        while position &+ 1 < bytes.count {
            if bytes[position] == 0x0D {
                position &+= 2
                return bytes[position &- 1] == 0x0A && fields.isPlain
            }
            guard scanField() else { return false }
        }
        return false
    }

    @inline(__always)
    private mutating func scanField() -> Bool {
        let start = position
        var end = bytes.end(of: .name, from: start)
        while end < bytes.count, Self.token.contains(bytes[end]) { end &+= 1 }
        guard end > start, end < bytes.count, bytes[end] == UInt8(ascii: ":") else { return false }
        // A value is blanks and visible ASCII characters.
        let valueEnd = bytes.end(of: .fieldValue, from: end &+ 1)
        guard valueEnd &+ 1 < bytes.count, bytes[valueEnd] == 0x0D, bytes[valueEnd &+ 1] == 0x0A else { return false }
        // The parser keeps blanks behind it.
        var valueStart = end &+ 1
        while valueStart < valueEnd, bytes[valueStart] == 0x20 { valueStart &+= 1 }
        position = valueEnd &+ 2
        count &+= 1
        switch fields.take(bytes.part(start, end), bytes.part(valueStart, valueEnd)) {
        case .knownAnswers: return knownAnswers.set(valueStart..<valueEnd)
        case .forwardedFor: return forwardedFor.set(valueStart..<valueEnd)
        case .other: return true
        }
    }

    /// The characters that may stand in the name of a field
    /// ([RFC 9110, 5.6.2](https://www.rfc-editor.org/rfc/rfc9110#section-5.6.2)): ! # $ % & ' * + - . ^ _ ` | ~, digits
    /// and letters.
    private static var token: ByteSet { ByteSet(low: 0x03FF_6CFA_0000_0000, high: 0x57FF_FFFF_C7FF_FFFE) }
}

extension UnsafeRawBufferPointer {
    /// Some of these bytes.
    @inline(__always)
    fileprivate func part(_ start: Int, _ end: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: self[Range(uncheckedBounds: (start, end))])
    }

    /// Whether these bytes begin with those of a text.
    @inline(__always)
    fileprivate func starts(with text: StaticString) -> Bool {
        let length = text.utf8CodeUnitCount
        guard count >= length else { return false }
        let other = UnsafeRawPointer(text.utf8Start)
        var offset = 0
        while offset &+ 8 <= length {
            let left = loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            if left != other.loadUnaligned(fromByteOffset: offset, as: UInt64.self) { return false }
            offset &+= 8
        }
        while offset < length {
            if self[offset] != other.load(fromByteOffset: offset, as: UInt8.self) { return false }
            offset &+= 1
        }
        return true
    }
}
