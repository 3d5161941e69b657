import FeedTemplates
import Synchronization
import UpdateFeeds
import UpdatePolicy

/// The documents of other update clients: those at hand, and how others are made.
final class FeedDocuments: Sendable {
    /// Makes the documents that are not at hand.
    let later: LaterAnswers
    private let cache = Mutex(FeedCache())
    private let templates = Mutex(ParsedTemplates())

    init(later: LaterAnswers) {
        self.later = later
    }

    private static let retrySeconds = 5
    private static let noDocument = RequestFault(
        .notFound,
        "There is no document at this path. The paths of an app, and templates that cannot be served, are shown by "
            + "versiongate feed list and feed lint."
    )

    /// Answers with a document that is at hand, or one that is made.
    func answer(to request: FeedRequest, by policy: CompiledPolicy?, at now: Timestamp) -> Outcome {
        if let response = response(atHandTo: request, policy, now) { return .now(response) }
        let vary = request.question().question.vary
        let key = LaterAnswers.Key(
            serialNumber: policy?.serialNumber,
            texts: [request.target] + request.values(of: vary) + request.knownAnswers.values
        )
        let late = RequestFault(
            .unavailable, "The document is not made yet; ask again in \(Self.retrySeconds) s.",
            header: ("Retry-After", "\(Self.retrySeconds)"), document: request.withoutNews
        )
        return .later(
            later.answer(key, isOfGateway: false, ifLate: .problem(late)) { [self] now in
                // Another order may have been for the same document.
                if let response = response(atHandTo: request, policy, now) { return response }
                guard let document = document(for: request, policy, now) else { return .problem(Self.noDocument) }
                cache.withLock { $0.insert(document, for: request, now.second, policy) }
                return Self.response(with: document, to: request, policy)
            }
        )
    }

    private func response(atHandTo request: FeedRequest, _ policy: CompiledPolicy?, _ now: Timestamp) -> Response? {
        cache.withLock { $0.find(request, now.second, policy) }
            .map { Self.response(with: $0, to: request, policy) }
    }

    private static func response(
        with document: RenderedFeed,
        to request: FeedRequest,
        _ policy: CompiledPolicy?
    ) -> Response {
        .revalidatable(
            document.contentType, document.tag, vary: document.vary, known: request.knownAnswers,
            revision: policy?.revision, body: .bytes(document.bytes)
        )
    }

    /// Makes a document; nil for a template that the app does not have, that cannot be read, or whose document is too large.
    private func document(for request: FeedRequest, _ policy: CompiledPolicy?, _ now: Timestamp) -> RenderedFeed? {
        let (question, isWhole) = request.question()
        guard case .template(let bundle, let name) = request.subject else {
            let document = FeedDocument(answering: question, by: isWhole ? policy : nil, at: now)
            return RenderedFeed(contentType: document.contentType, bytes: document.bytes, vary: document.vary)
        }
        guard let policy, let app = policy.section(ofApp: bundle)?.app,
            let template = app.feedTemplates.first(where: { $0.name == name }),
            let parsed = templates.withLock({ $0.parsed(template, of: app.bundle, policy) }),
            let values = FeedValues(answering: question, by: policy, at: now, for: parsed),
            let text = parsed.render(values)
        else { return nil }
        return RenderedFeed(contentType: template.contentType, bytes: Array(text.utf8), vary: question.vary)
    }
}

/// The templates of one policy that were read.
private struct ParsedTemplates {
    /// By app and name; nil for one that cannot be read.
    private var templates: [[String]: ParsedTemplate?] = [:]
    private var serialNumber: UInt64?

    mutating func parsed(_ template: FeedTemplate, of bundle: String, _ policy: CompiledPolicy) -> ParsedTemplate? {
        if policy.serialNumber != serialNumber {
            serialNumber = policy.serialNumber
            templates = [:]
        }
        if let known = templates[[bundle, template.name]] { return known }
        let parsed = try? ParsedTemplate(template)
        templates[[bundle, template.name]] = .some(parsed)
        return parsed
    }
}

/// A document as it is sent.
struct RenderedFeed: Sendable {
    let contentType: String
    let bytes: [UInt8]
    /// The fields of the request that it depends on.
    let vary: [String]
    let tag: EntityTag

    init(contentType: String, bytes: [UInt8], vary: [String]) {
        self.contentType = contentType
        self.bytes = bytes
        self.vary = vary
        tag = bytes.withUnsafeBytes { EntityTag(of: $0) }
    }
}

/// The documents of one policy and one second, within a bound of memory: a storm of one question costs a look at them.
///
/// They stay until the next question of another second, which may come much later. So nothing of a question stays with
/// them, such as an id of an installation: a question is known by a hash with a secret. Nobody can make two questions of
/// one hash, to be given the document of somebody else.
struct FeedCache {
    /// What a question, or a part of it, is known by: a SHA-256.
    private typealias Fingerprint = SIMD4<UInt64>

    /// The documents of one target. Which fields they depend on follows from it.
    private struct Entry {
        let vary: [String]
        /// By those of the fields.
        var documents: [Fingerprint: RenderedFeed] = [:]
    }

    /// The most memory in bytes, about.
    static let maximumSize = 4 << 20
    /// What a document takes beside its bytes.
    private static let overhead = 512

    /// How many bytes the documents take, about.
    private(set) var size = 0
    private var entries: [Fingerprint: Entry] = [:]
    private var second = Int64.min
    private var serialNumber: UInt64?
    private let secret = (0..<4).map { _ in UInt64.random(in: .min ... .max) }

    /// The document of a second and a policy; forgets those of others.
    mutating func find(_ request: FeedRequest, _ second: Int64, _ policy: CompiledPolicy?) -> RenderedFeed? {
        if second != self.second || policy?.serialNumber != serialNumber {
            (self.second, serialNumber) = (second, policy?.serialNumber)
            removeAll()
        }
        guard let entry = entries[fingerprint([request.target])] else { return nil }
        return entry.documents[fingerprint(of: request, entry.vary)]
    }

    /// Keeps a document where it still is the document of now.
    mutating func insert(
        _ document: RenderedFeed,
        for request: FeedRequest,
        _ second: Int64,
        _ policy: CompiledPolicy?
    ) {
        guard second == self.second, policy?.serialNumber == serialNumber else { return }
        let added = document.bytes.count + Self.overhead
        if size + added > Self.maximumSize { removeAll() }
        let fields = fingerprint(of: request, document.vary)
        let target = fingerprint([request.target])
        if entries[target, default: Entry(vary: document.vary)].documents.updateValue(document, forKey: fields) == nil {
            size += added
        }
    }

    private mutating func removeAll() {
        entries = [:]
        size = 0
    }

    private func fingerprint(of request: FeedRequest, _ vary: [String]) -> Fingerprint {
        fingerprint(request.values(of: vary))
    }

    /// What stands for some texts; their lengths keep them apart.
    private func fingerprint(_ texts: [String]) -> Fingerprint {
        var hash = SHA256()
        secret.withUnsafeBytes { hash.update(bufferPointer: $0) }
        for text in texts {
            withUnsafeBytes(of: text.utf8.count) { hash.update(bufferPointer: $0) }
            hash.update(data: text.utf8)
        }
        return hash.finalize().withUnsafeBytes { $0.loadUnaligned(as: Fingerprint.self) }
    }
}
