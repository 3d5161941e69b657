import NIOHTTP1
import UpdateFeeds
import UpdatePolicy

/// A request of another update client, with what its document may depend on.
///
/// It is read when its document is not at hand. A connection has room for a reference to one.
final class FeedRequest: Sendable {
    /// Which document is asked for.
    let subject: FeedSubject
    /// The target as it was sent.
    let target: String
    /// The fields that a document may depend on.
    let acceptLanguage, userAgent: String?
    /// The answers that the client has already.
    let knownAnswers: IfNoneMatch
    private let query: Substring

    init(_ subject: FeedSubject, target: String, query: Substring, _ fields: HTTPHeaders) {
        self.subject = subject
        self.target = target
        self.query = query
        let languages = fields["accept-language"]
        acceptLanguage = languages.isEmpty ? nil : languages.joined(separator: ",")
        userAgent = fields.first(name: "user-agent")
        knownAnswers = IfNoneMatch(fields["if-none-match"])
    }

    /// The document that says nothing to the client of a request, so that it survives being refused; nil where no update
    /// client asks.
    static func withoutNews(_ head: HTTPRequestHead) -> (contentType: String, bytes: [UInt8])? {
        let target = RequestTarget(head.uri)
        guard case .feed(let subject) = target.path else { return nil }
        return FeedRequest(subject, target: head.uri, query: target.query, head.headers).withoutNews
    }

    /// The document that says nothing to the client; nil for a document of the app's own.
    var withoutNews: (contentType: String, bytes: [UInt8])? {
        let (question, _) = question()
        guard question.format != nil else { return nil }
        let document = FeedDocument(answering: question, by: nil, at: Timestamp(secondsSince1970: 0))
        return (document.contentType, document.bytes)
    }

    /// The fields of the request that a document depends on.
    func values(of vary: [String]) -> [String] {
        [
            vary.contains("Accept-Language") ? acceptLanguage ?? "" : "",
            vary.contains("User-Agent") ? userAgent ?? "" : "",
        ]
    }

    /// The question, and whether its query means what it says.
    ///
    /// Where it does not, its client is told what it takes as no news: another status it may not survive.
    func question() -> (question: FeedQuestion, isWhole: Bool) {
        let query = LenientQuery(query)
        var bundle: String?
        var country: String?
        let format: FeedFormat?
        switch subject {
        case .format(let known, let app): (format, bundle) = (known, app)
        case .template(let app, _): (format, bundle) = (nil, app)
        case .lookup(let code): (format, country) = (.lookup, code)
        }
        let question = FeedQuestion(
            format: format, bundle: bundle, country: country, query: query.members, acceptLanguage: acceptLanguage,
            userAgent: userAgent
        )
        return (question, query.isWhole)
    }
}
