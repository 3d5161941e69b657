import NIOHTTP1
import UpdateFeeds
import UpdatePolicy

/// What is asked of the ``DocumentMaker``.
struct DocumentQuestion: Sendable {
    enum Subject: Sendable {
        /// A document for another update client.
        case feed(FeedRequest)
        /// Whether a client is to be turned away, and by which status.
        case gate(Client, HTTPResponseStatus)
    }

    /// Questions that have the same key have the same answer at the same time.
    struct Key: Hashable {
        fileprivate let serialNumber: UInt64?
        fileprivate let texts: [String]
    }

    let subject: Subject
    let policy: CompiledPolicy?
    let key: Key

    /// A document.
    init(_ request: FeedRequest, by policy: CompiledPolicy?) {
        subject = .feed(request)
        self.policy = policy
        let vary = request.question().question.vary
        key = Key(serialNumber: policy?.serialNumber, texts: [request.target] + request.values(of: vary))
    }

    /// A client of a gateway.
    init(_ request: GateRequest, _ client: Client, refusal: HTTPResponseStatus, by policy: CompiledPolicy) {
        subject = .gate(client, refusal)
        self.policy = policy
        key = Key(serialNumber: policy.serialNumber, texts: request.texts)
    }

    /// Whether a gateway asks.
    var isOfGateway: Bool {
        if case .gate = subject { true } else { false }
    }

    /// The answers that the client has already.
    var knownAnswers: IfNoneMatch? {
        if case .feed(let request) = subject { request.knownAnswers } else { nil }
    }

    /// How it is answered when the answer is not made in time.
    var late: MadeAnswer {
        switch subject {
        case .feed(let request):
            .fault(
                RequestFault(
                    .serviceUnavailable, "The document is not made yet; ask again in \(Self.retrySeconds) s.",
                    header: ("Retry-After", "\(Self.retrySeconds)"), document: request.withoutNews
                )
            )
        case .gate: .gate(.pass)
        }
    }

    private static let retrySeconds = 5
}

/// The answer that was made.
enum MadeAnswer: Sendable {
    case document(RenderedFeed)
    case gate(GateAnswer)
    case fault(RequestFault)
}
