import UpdatePolicy

/// The members of a query, one after the other: the part of a request target after the question mark.
///
/// Percent-encoding is that of [RFC 3986](https://www.rfc-editor.org/rfc/rfc3986#section-2.1); a plus sign is a plus
/// sign, because versions have one (`1.0+45`).
struct QueryMembers {
    /// The most bytes a query may have.
    static let maximumSize = 8_192

    /// Where a member is.
    struct Member {
        /// All of it.
        let pair: Range<Int>
        let name: Range<Int>
        let value: Range<Int>
    }

    let query: UnsafeRawBufferPointer
    private var start = 0

    init(_ query: UnsafeRawBufferPointer) {
        self.query = query
    }

    /// The next member that is not empty; nil at the end.
    @inline(__always)
    mutating func next() -> Member? {
        while start < query.count {
            let first = start
            var end = first
            var nameEnd: Int?
            while end < query.count, query[end] != UInt8(ascii: "&") {
                if nameEnd == nil, query[end] == UInt8(ascii: "=") { nameEnd = end }
                end += 1
            }
            start = end + 1
            if end == first { continue }
            let name = first..<(nameEnd ?? end)
            return Member(pair: first..<end, name: name, value: min(name.upperBound + 1, end)..<end)
        }
        return nil
    }
}

/// The percent-encoding of texts.
enum PercentEncoding {
    /// Why a text cannot be read.
    enum Fault: Error {
        case escape
        case notText

        /// What is wrong, to be put behind where it is.
        var detail: String {
            switch self {
            case .escape: "two hexadecimal digits must follow a percent sign"
            case .notText: "it must be UTF-8 without the character U+0000"
            }
        }
    }

    /// The bytes of a text, which are valid UTF-8; nil where it has no percent sign.
    static func decoded(_ text: UnsafeRawBufferPointer) throws(Fault) -> [UInt8]? {
        guard text.contains(UInt8(ascii: "%")) else { return nil }
        var decoded: [UInt8] = []
        var position = 0
        while position < text.count {
            let byte = text[position]
            position += 1
            if byte != UInt8(ascii: "%") {
                decoded.append(byte)
                continue
            }
            guard position + 1 < text.count, let high = text[position].hexadecimalDigit,
                let low = text[position + 1].hexadecimalDigit
            else { throw .escape }
            decoded.append(high << 4 | low)
            position += 2
        }
        guard String(validating: decoded, as: UTF8.self) != nil, !decoded.contains(0) else { throw .notText }
        return decoded
    }

    /// A text; nil where it cannot be read.
    static func text(_ bytes: UnsafeRawBufferPointer) -> String? {
        do throws(Fault) {
            return try decoded(bytes).map { String(decoding: $0, as: UTF8.self) }
                ?? String(decoding: bytes, as: UTF8.self)
        } catch {
            return nil
        }
    }
}

/// A query as text, for clients that must be answered whatever they send.
struct LenientQuery {
    /// The most members that are read.
    private static let maximumCount = 128

    /// The members that can be read, each at most once.
    private(set) var members: [(name: String, value: String)] = []
    /// Whether these are all, so that the query means what it says.
    private(set) var isWhole = true

    /// Reads as much of a query as can be read.
    init(_ query: Substring) {
        guard query.utf8.count <= QueryMembers.maximumSize else {
            isWhole = false
            return
        }
        var query = query
        query.withUTF8 { bytes in
            var rest = QueryMembers(UnsafeRawBufferPointer(bytes))
            var names: Set<String> = []
            while let member = rest.next() {
                guard members.count < Self.maximumCount,
                    let name = PercentEncoding.text(UnsafeRawBufferPointer(rebasing: rest.query[member.name])),
                    let value = PercentEncoding.text(UnsafeRawBufferPointer(rebasing: rest.query[member.value])),
                    names.insert(name).inserted
                else {
                    isWhole = false
                    continue
                }
                members.append((name, value))
            }
        }
    }
}

/// Reads the query of `GET /v1/check` into a client.
struct CheckQueryDecoder {
    let query: UnsafeRawBufferPointer
    /// Where the query begins among the bytes of the client.
    let start: Int

    /// Reads a whole query, the part of the request target after the question mark.
    ///
    /// - Throws: a fault that names the member that is wrong: 414 when the query is too long, else 400.
    static func read(_ query: UnsafeRawBufferPointer, into client: inout Client) throws(RequestFault) {
        guard query.count <= QueryMembers.maximumSize else {
            throw RequestFault(
                .uriTooLong,
                "The query has \(query.count) bytes; at most \(QueryMembers.maximumSize) are read. Use POST for more."
            )
        }
        try CheckQueryDecoder(query: query, start: client.append(query).lowerBound).decodeMembers(into: &client)
        do throws(ClientError) {
            try client.validate()
        } catch {
            throw .badRequest("\(error)")
        }
    }

    private func decodeMembers(into client: inout Client) throws(RequestFault) {
        var members = QueryMembers(query)
        while let member = members.next() {
            let name = try range(of: member.name, in: member.pair, &client)
            let value = try range(of: member.value, in: member.pair, &client)
            do throws(ClientError) {
                try client.setMember(at: name, inQuery: value)
            } catch {
                throw .badRequest("\(error)")
            }
        }
    }

    /// Where a text of a pair is among the bytes of the client, its percent-encoding resolved.
    private func range(
        of text: Range<Int>,
        in pair: Range<Int>,
        _ client: inout Client
    ) throws(RequestFault) -> Range<Int> {
        do throws(PercentEncoding.Fault) {
            let decoded = try PercentEncoding.decoded(UnsafeRawBufferPointer(rebasing: query[text]))
            return decoded.map { decoded in decoded.withUnsafeBytes { client.append($0) } }
                ?? (start + text.lowerBound)..<(start + text.upperBound)
        } catch {
            let excerpt = RequestFault.excerpt(String(decoding: query[pair], as: UTF8.self)[...])
            throw .badRequest("The query is wrong at \"\(excerpt)\": \(error.detail).")
        }
    }
}
