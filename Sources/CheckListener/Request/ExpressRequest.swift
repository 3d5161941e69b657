// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import UpdatePolicy

/// A plain request that is whole in the bytes of one read, recognised in one pass and without the parser.
///
/// Nearly every check is one: `POST /v1/check HTTP/1.1`, header fields of plain form, one `Content-Length`, the body
/// complete. To recognise it costs a tenth of the instructions that the parser and its header fields cost.
///
/// It has no rules of its own. What it accepts, the parser and ``RequestFraming`` would have accepted with the same
/// meaning; in any doubt it accepts nothing, and the bytes go to the parser untouched.
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
        var fields = HeaderFields(bytes, position: lineEnd)
        guard fields.scan(), fields.count <= limits.headerFields, fields.position <= limits.headerBytes else {
            return nil
        }
        self.route = route
        if route == .checkQuery {
            guard fields.contentLength <= 0 else { return nil }
            input = Range(uncheckedBounds: (Self.queryStart, lineEnd &- Self.queryLineEnd.utf8CodeUnitCount))
            length = fields.position
        } else {
            guard fields.contentLength >= 0, fields.contentLength <= CheckBodyDecoder.maximumBodySize,
                bytes.count &- fields.position >= fields.contentLength
            else { return nil }
            length = fields.position &+ fields.contentLength
            input = Range(uncheckedBounds: (fields.position, length))
        }
        isKeepAlive = !fields.asksForClose
        forwardedFor = fields.forwardedFor
        knownAnswers = fields.knownAnswers
    }

    /// The values of `X-Forwarded-For`.
    func forwardedFor(in bytes: UnsafeRawBufferPointer) -> [String] { forwardedFor.values(in: bytes) }

    /// The answers that the client has already; nil where the answer may not be cached.
    func knownAnswers(in bytes: UnsafeRawBufferPointer) -> IfNoneMatch? {
        route == .checkQuery ? IfNoneMatch(knownAnswers.values(in: bytes)) : nil
    }

    /// The names that the answer uses.
    var shape: AnswerShape { route == .legacyCheckBody ? .legacy : .standard }

    /// The route in metrics.
    var kind: RequestKind.Route { route == .legacyCheckBody ? .legacyCheck : .check }

    /// The method in metrics.
    var method: RequestKind.Method { route == .checkQuery ? .get : .post }

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

/// The header fields of a request as ``ExpressRequest`` reads them.
private struct HeaderFields {
    private let bytes: UnsafeRawBufferPointer
    /// Where the next field begins; in the end, where the body does.
    private(set) var position: Int
    private(set) var count = 0
    /// The length that the request says its body has; -1 where it says none.
    private(set) var contentLength = -1
    private(set) var forwardedFor = FieldValue()
    private(set) var knownAnswers = FieldValue()
    private(set) var asksForClose = false
    private var hasHost = false

    init(_ bytes: UnsafeRawBufferPointer, position: Int) {
        self.bytes = bytes
        self.position = position
    }

    /// Reads all fields and the empty line behind them; `false` where one is not plain, or some are missing.
    mutating func scan() -> Bool {
        while position &+ 1 < bytes.count {
            if bytes[position] == 0x0D {
                position &+= 2
                return bytes[position &- 1] == 0x0A && hasHost
            }
            guard scanField() else { return false }
        }
        return false
    }

    @inline(__always)
    private mutating func scanField() -> Bool {
        let name = position
        var end = bytes.end(of: .name, from: name)
        while end < bytes.count, Self.token.contains(bytes[end]) { end &+= 1 }
        guard end > name, end < bytes.count, bytes[end] == UInt8(ascii: ":") else { return false }
        guard let valueEnd = endOfValue(from: end &+ 1) else { return false }
        position = valueEnd &+ 2
        count &+= 1
        return take(name..<end, trimmed((end &+ 1)..<valueEnd))
    }

    /// Where the CR LF is that ends a value; nil where a byte before is not a blank or a visible ASCII character.
    @inline(__always)
    private func endOfValue(from start: Int) -> Int? {
        let end = bytes.end(of: .fieldValue, from: start)
        guard end &+ 1 < bytes.count, bytes[end] == 0x0D, bytes[end &+ 1] == 0x0A else { return nil }
        return end
    }

    /// A value from its first character on; the parser keeps blanks behind it.
    @inline(__always)
    private func trimmed(_ range: Range<Int>) -> Range<Int> {
        var start = range.lowerBound
        while start < range.upperBound, bytes[start] == 0x20 { start &+= 1 }
        return Range(uncheckedBounds: (start, range.upperBound))
    }

    /// Takes over what a field says about the request; `false` where it is one that the parser must judge.
    @inline(__always)
    private mutating func take(_ name: Range<Int>, _ value: Range<Int>) -> Bool {
        switch name.count {
        case 4 where isName(name, "host"):
            guard !hasHost else { return false }
            hasHost = true
            return HostField.isValid(UnsafeRawBufferPointer(rebasing: bytes[value]))
        case 6: return !isName(name, "expect")
        case 7: return !isName(name, "upgrade")
        case 10 where isName(name, "connection"): return takeConnection(value)
        case 13 where isName(name, "if-none-match"):
            return knownAnswers.set(value)
        case 14 where isName(name, "content-length"): return takeContentLength(value)
        case 15 where isName(name, "x-forwarded-for"):
            return forwardedFor.set(value)
        case 16: return !isName(name, "content-encoding") && !isName(name, "proxy-connection")
        case 17: return !isName(name, "transfer-encoding")
        default: return true
        }
    }

    private mutating func takeConnection(_ value: Range<Int>) -> Bool {
        if isName(value, "keep-alive") { return true }
        guard isName(value, "close") else { return false }
        asksForClose = true
        return true
    }

    private mutating func takeContentLength(_ value: Range<Int>) -> Bool {
        guard contentLength < 0, (1...5).contains(value.count) else { return false }
        var length = 0
        for index in value {
            let digit = bytes[index] &- UInt8(ascii: "0")
            guard digit < 10 else { return false }
            length = length &* 10 &+ Int(digit)
        }
        contentLength = length
        return true
    }

    /// Whether some bytes are a name in lower case, when the case of their ASCII letters is left out.
    ///
    /// The bytes must be characters from 0x20 to 0x7E, and the name letters and hyphens: then no other character becomes
    /// one of these when its bit of case is set.
    @inline(__always)
    private func isName(_ range: Range<Int>, _ lowercased: StaticString) -> Bool {
        let length = lowercased.utf8CodeUnitCount
        guard range.count == length else { return false }
        let name = UnsafeRawPointer(lowercased.utf8Start)
        var offset = 0
        while offset &+ 8 <= length {
            let word = bytes.loadUnaligned(fromByteOffset: range.lowerBound &+ offset, as: UInt64.self)
            let other = name.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            if word | 0x2020_2020_2020_2020 != other { return false }
            offset &+= 8
        }
        while offset < length {
            if bytes[range.lowerBound &+ offset] | 0x20 != name.load(fromByteOffset: offset, as: UInt8.self) {
                return false
            }
            offset &+= 1
        }
        return true
    }

    /// The characters that may stand in the name of a field
    /// ([RFC 9110, 5.6.2](https://www.rfc-editor.org/rfc/rfc9110#section-5.6.2)): ! # $ % & ' * + - . ^ _ ` | ~, digits
    /// and letters.
    private static var token: ByteSet { ByteSet(low: 0x03FF_6CFA_0000_0000, high: 0x57FF_FFFF_C7FF_FFFE) }
}

extension UnsafeRawBufferPointer {
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
