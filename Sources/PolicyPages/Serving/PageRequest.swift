// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// A GET or HEAD for a page.
public struct PageRequest: Sendable {
    /// The most bytes of path and query.
    public static let maximumLength = 8_192

    /// The parts of the path, decoded.
    let path: [String]
    /// The query as it was sent.
    let query: String
    /// The `If-None-Match` of the request; nil: none.
    let knownTag: String?

    /// - Parameters:
    ///   - path: As it was sent.
    ///   - query: As it was sent, without the question mark.
    ///   - knownTag: The `If-None-Match` of the request; nil: none.
    public init(path: String, query: String, knownTag: String? = nil) {
        // A part that cannot be decoded is nobody's.
        self.path = path.split(separator: "/").map { Self.decoded($0, plusIsBlank: false) ?? "\u{FFFD}" }
        self.query = query
        self.knownTag = knownTag
    }

    /// The members of the query in their order, as a form sends them; nil where they cannot be decoded.
    var members: [(name: String, value: String)]? {
        var members: [(name: String, value: String)] = []
        for part in query.split(separator: "&") {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.decoded(pair[0], plusIsBlank: true),
                let value = pair.count == 1 ? "" : Self.decoded(pair[1], plusIsBlank: true)
            else { return nil }
            members.append((name, value))
        }
        return members
    }

    /// Text without its percent signs; nil where two digits are missing behind one, or it is no UTF-8.
    private static func decoded(_ text: Substring, plusIsBlank: Bool) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+") where plusIsBlank: bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else {
                    return nil
                }
                bytes.append(high << 4 | low)
            default: bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        Character(Unicode.Scalar(byte)).hexDigitValue.map { UInt8($0) }
    }
}

/// The answer to a ``PageRequest``.
public struct PageResponse: Sendable {
    /// The status of HTTP.
    public let status: Int
    /// The media type; nil without a body.
    public let contentType: String?
    /// The fields of the head beside those of every answer and the type.
    public let fields: [(name: String, value: String)]
    /// The body.
    public let body: [UInt8]

    init(
        status: Int = 200,
        contentType: String?,
        fields: [(name: String, value: String)] = [("Cache-Control", "no-store")],
        body: some Sequence<UInt8>
    ) {
        self.status = status
        self.contentType = contentType
        self.fields = fields
        self.body = Array(body)
    }

    /// A line of text for whoever gets no page.
    public init(status: Int, text: String) {
        self.init(status: status, contentType: "text/plain; charset=utf-8", body: text.utf8)
    }

    /// The fields of every answer of the pages.
    ///
    /// A page loads what this listener serves and nothing else, is shown in no frame, and tells nobody its address.
    public static let commonFields = [
        (
            name: "Content-Security-Policy",
            value: "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; "
                + "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
        ),
        (name: "Referrer-Policy", value: "no-referrer"),
        (name: "X-Content-Type-Options", value: "nosniff"),
        (name: "Cross-Origin-Resource-Policy", value: "same-origin"),
        (name: "Cross-Origin-Opener-Policy", value: "same-origin"),
    ]
}
