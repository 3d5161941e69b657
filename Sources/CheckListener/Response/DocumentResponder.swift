import NIOHTTP1
import UpdatePolicy

/// Answers the requests of one event loop for documents of other update clients, and those of gateways.
struct DocumentResponder: ~Copyable {
    private var feeds = FeedCache()
    private var client = Client()

    /// Answers with a document that is at hand.
    mutating func respond(to feed: FeedRequest, by policy: CompiledPolicy?, at now: Timestamp) -> ResponseOutcome {
        feeds.begin(second: HTTPDate.second(of: now), policy)
        guard let document = feeds[feed] else { return .awaits(DocumentQuestion(feed, by: policy)) }
        return .answered(Self.response(with: document, known: feed.knownAnswers, by: policy))
    }

    /// Answers a gateway, where that takes no longer than an event loop may spend on a request.
    mutating func respond(to gate: GateRequest, by policy: CompiledPolicy?, at now: Timestamp) -> ResponseOutcome {
        client.removeAll()
        var judgement = GateAnswer.pass
        if let policy, let status = gate.read(into: &client) {
            guard
                let answer = GateAnswer(to: client, refusal: status, by: policy, at: now, within: GateAnswer.mostSteps)
            else { return .awaits(DocumentQuestion(gate, client, refusal: status, by: policy)) }
            judgement = answer
        }
        return .answered(Self.response(with: judgement, by: policy))
    }

    /// Keeps a document that was made, where it still is the document of now.
    mutating func keep(_ answer: MadeAnswer, to question: DocumentQuestion, madeAt time: Timestamp) {
        guard case .document(let document) = answer, case .feed(let request) = question.subject,
            feeds.keeps(second: HTTPDate.second(of: time), question.policy)
        else { return }
        feeds.insert(document, for: request)
    }

    /// The response with what was made for a question.
    static func response(with answer: MadeAnswer, to question: DocumentQuestion) -> Response {
        switch answer {
        case .document(let document):
            response(with: document, known: question.knownAnswers, by: question.policy)
        case .gate(let answer): response(with: answer, by: question.policy)
        case .fault(let fault): .problem(fault)
        }
    }

    private static func response(
        with document: RenderedFeed,
        known: IfNoneMatch?,
        by policy: CompiledPolicy?
    ) -> Response {
        .revalidatable(
            document.contentType, document.tag, vary: document.vary, known: known, revision: policy?.revision,
            body: .bytes(document.bytes)
        )
    }

    private static func response(with answer: GateAnswer, by policy: CompiledPolicy?) -> Response {
        guard let refusal = answer.refusal else {
            return .other(ResponseHead(status: .noContent, revision: policy?.revision), .none)
        }
        var fields = [(name: "App-Lockout", value: refusal.rule)]
        if refusal.status == .upgradeRequired { fields += [("Upgrade", "app"), ("Connection", "Upgrade")] }
        let head = ResponseHead(
            status: refusal.status, contentType: "application/json", fields: fields, revision: policy?.revision
        )
        return .other(head, .bytes(refusal.messages))
    }
}
