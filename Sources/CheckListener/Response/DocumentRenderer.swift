import FeedTemplates
import NIOHTTP1
import UpdateFeeds
import UpdatePolicy

/// Makes what may take long to make: it keeps the templates of one policy that it has read.
struct DocumentRenderer {
    /// By app and name; nil for one that cannot be read.
    private var templates: [TemplateName: ParsedTemplate?] = [:]
    private var serialNumber: UInt64?

    private struct TemplateName: Hashable {
        let bundle: String
        let name: String
    }

    private static let noDocument = RequestFault(
        .notFound,
        "There is no document at this path. The paths of an app, and templates that cannot be served, are shown by "
            + "versiongate feed list and feed lint."
    )

    /// The answer to a question.
    mutating func answer(_ question: DocumentQuestion, at now: Timestamp) -> MadeAnswer {
        switch question.subject {
        case .feed(let request):
            do throws(RequestFault) {
                return .document(try document(for: request, question.policy, now))
            } catch {
                return .fault(error)
            }
        case .gate(let client, let status):
            guard let policy = question.policy else { return .gate(.pass) }
            return .gate(GateAnswer(to: client, refusal: status, by: policy, at: now) ?? .pass)
        }
    }

    /// The document that answers a request.
    ///
    /// - Throws: 404 for a template that the app does not have, that cannot be read, or whose document is too large.
    private mutating func document(
        for request: FeedRequest,
        _ policy: CompiledPolicy?,
        _ now: Timestamp
    ) throws(RequestFault) -> RenderedFeed {
        let (question, isWhole) = request.question()
        if case .template(let bundle, let name) = request.subject {
            return try render(bundle, name, question, policy, now)
        }
        let document = FeedDocument(answering: question, by: isWhole ? policy : nil, at: now)
        return RenderedFeed(contentType: document.contentType, bytes: document.bytes, vary: document.vary)
    }

    private mutating func render(
        _ bundle: String,
        _ name: String,
        _ question: FeedQuestion,
        _ policy: CompiledPolicy?,
        _ now: Timestamp
    ) throws(RequestFault) -> RenderedFeed {
        guard let policy, let app = policy.section(ofApp: bundle)?.app,
            let template = app.feedTemplates.first(where: { $0.name == name }),
            let reading = read(template, of: app.bundle, policy),
            let values = FeedValues(answering: question, by: policy, at: now, for: reading),
            let text = reading.render(values)
        else { throw Self.noDocument }
        return RenderedFeed(contentType: template.contentType, bytes: Array(text.utf8), vary: question.vary)
    }

    private mutating func read(
        _ template: FeedTemplate,
        of bundle: String,
        _ policy: CompiledPolicy
    ) -> ParsedTemplate? {
        if policy.serialNumber != serialNumber {
            serialNumber = policy.serialNumber
            templates = [:]
        }
        let key = TemplateName(bundle: bundle, name: template.name)
        if let known = templates[key] { return known }
        let reading = try? ParsedTemplate(template)
        templates[key] = .some(reading)
        return reading
    }
}
