import UpdatePolicy

/// Answers the requests of one event loop: from a request, the policy and the time to a response.
struct Responder: ~Copyable {
    private(set) var checks: CheckResponder
    private var documents = DocumentResponder()

    /// Creates the responder of an event loop.
    ///
    /// - Parameters:
    ///   - recorder: Counts the checks; nil: they are not counted.
    ///   - signatures: Those of lockouts; nil: they are not signed.
    init(recorder: CheckRecorder?, signatures: LockoutSignatures?) {
        checks = CheckResponder(recorder: recorder, signatures: signatures)
    }

    /// Answers a plain request.
    @inline(__always)
    mutating func respond(
        to request: ExpressRequest,
        in bytes: UnsafeRawBufferPointer,
        by policy: CompiledPolicy?,
        at now: Timestamp
    ) -> Response {
        checks.respond(to: request, in: bytes, by: policy, at: now)
    }

    /// Answers a request that the parser read.
    mutating func respond(
        to request: borrowing ParsedRequest,
        by policy: CompiledPolicy?,
        at now: Timestamp
    ) -> ResponseOutcome {
        switch request.route {
        case .checkBody(let shape):
            .answered(checks.respond(toBody: request.content, shape: shape, by: policy, at: now))
        case .checkQuery(let query, let known):
            .answered(checks.respond(toQuery: query, known: known, by: policy, at: now))
        case .feed(let feed): documents.respond(to: feed, by: policy, at: now)
        case .gate(let gate): documents.respond(to: gate, by: policy, at: now)
        }
    }

    /// Keeps a document that was made, for those who ask next.
    mutating func keep(_ answer: MadeAnswer, to question: DocumentQuestion, madeAt time: Timestamp) {
        documents.keep(answer, to: question, madeAt: time)
    }
}
