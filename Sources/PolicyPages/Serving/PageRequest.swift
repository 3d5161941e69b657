/// A GET or HEAD for a page.
package struct PageRequest: Sendable {
    /// The most bytes of path and query.
    package static let maximumLength = 8_192
    /// The most members of a query.
    private static let mostMembers = 100

    let route: PageRoute
    /// The query as it was sent.
    let query: String
    /// The `If-None-Match` of the request; nil: none.
    let knownTag: String?

    /// - Parameters:
    ///   - route: What is asked for.
    ///   - query: As it was sent, without the question mark.
    ///   - knownTag: The `If-None-Match` of the request; nil: none.
    package init(_ route: PageRoute, query: String, knownTag: String? = nil) {
        self.route = route
        self.query = query
        self.knownTag = knownTag
    }

    /// The members of the query in their order, as a form sends them.
    func members() throws(PageProblem) -> [(name: String, value: String)] {
        var members: [(name: String, value: String)] = []
        for part in query.split(separator: "&") {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                .map { $0.replacing("+", with: " ").percentDecoded }
            guard let name = pair[0], let value = pair.count == 1 ? "" : pair[1] else {
                throw PageProblem(400, "This address cannot be read", "Its query is not encoded as addresses are.")
            }
            members.append((name, value))
        }
        guard members.count <= Self.mostMembers else {
            throw PageProblem(
                400, "This address cannot be read", "Its query has more than \(Self.mostMembers) members."
            )
        }
        return members
    }
}

/// The answer to a ``PageRequest``.
package struct PageResponse: Sendable {
    /// The status of HTTP.
    package let status: Int
    /// The media type; nil without a body.
    package let contentType: String?
    /// The fields of the head beside those of every answer and the type.
    package let fields: [(name: String, value: String)]
    /// The body.
    package let body: [UInt8]

    init(
        status: Int = 200,
        contentType: String?,
        fields: [(name: String, value: String)] = [],
        caching: String = "no-store",
        body: some Sequence<UInt8>
    ) {
        self.status = status
        self.contentType = contentType
        self.fields = [("Cache-Control", caching)] + fields
        self.body = Array(body)
    }

    /// A line of text for whoever gets no page.
    package init(status: Int, text: String, fields: [(name: String, value: String)] = []) {
        self.init(status: status, contentType: "text/plain; charset=utf-8", fields: fields, body: text.utf8)
    }

    /// The fields of every answer of the pages.
    ///
    /// A page loads what this listener serves and nothing else, is shown in no frame, and tells nobody its address.
    package static let commonFields = [
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

/// Why there is no page.
struct PageProblem: Error {
    let status: Int
    let title: String
    let text: String

    init(_ status: Int, _ title: String, _ text: String) {
        self.status = status
        self.title = title
        self.text = text
    }
}
