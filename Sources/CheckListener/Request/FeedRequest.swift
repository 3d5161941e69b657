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

    /// - Parameter values: The values of the header fields of a name.
    init(_ subject: FeedSubject, _ target: RequestTarget, values: (StaticString) -> [String]) {
        self.subject = subject
        self.target = target.text
        query = target.query
        let languages = values("accept-language")
        acceptLanguage = languages.isEmpty ? nil : languages.joined(separator: ",")
        userAgent = values("user-agent").first
        knownAnswers = IfNoneMatch(values("if-none-match"))
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
