import UpdatePolicy

/// A release that a pipeline sends, to be recorded by what this module cannot see.
package struct SentRelease: Sendable {
    /// Records a release, and hands the answer over at most once, on any thread; `false` where there is no room.
    package typealias Recorder = @Sendable (SentRelease, _ deliver: @escaping @Sendable (Answer) -> Void) -> Bool

    /// What became of it.
    package enum Answer: Sendable {
        /// It is recorded, as a document says.
        case recorded(document: String, isNew: Bool)
        /// Nothing says who sends it, or that he may not.
        case unauthorized
        /// It cannot be read.
        case unreadable(String)
        /// The database refuses it.
        case refused(String)
        /// Something else is recorded.
        case conflict(String)
        /// Nobody can say now what is recorded.
        case unavailable
    }

    /// The most seconds until the answer.
    package static let timeout = Duration.seconds(10)

    /// What says who sends it; nil: nothing does.
    package let token: String?
    /// What it is, as JSON.
    package let body: [UInt8]

    /// The token in the values of `Authorization` ([RFC 6750, 2.1](https://www.rfc-editor.org/rfc/rfc6750#section-2.1)).
    static func token(in values: [String]) -> String? {
        guard values.count == 1, let blank = values[0].firstIndex(of: " "),
            ASCII.lowercased(String(values[0][..<blank])) == "bearer"
        else { return nil }
        return String(values[0][blank...].drop { $0 == " " })
    }
}

extension LaterAnswer {
    /// The answer to a release that is sent.
    init(_ release: SentRelease, recorder: @escaping SentRelease.Recorder) {
        self.init(phase: .release, ifLate: Response(.unavailable)) { deliver in
            recorder(release) { deliver(Response($0)) }
        }
    }
}

extension Response {
    fileprivate init(_ answer: SentRelease.Answer) {
        switch answer {
        case .recorded(let document, let isNew):
            let head = ResponseHead(status: isNew ? .created : .ok, contentType: "application/json")
            self = .other(head, .bytes(Array(document.utf8)))
        case .unauthorized:
            // One answer, so that nothing is learnt of tokens and apps.
            self = .problem(
                RequestFault(
                    .unauthorized,
                    "The token is missing or wrong, or it is for another app or platform than the release names.",
                    header: ("WWW-Authenticate", "Bearer")
                )
            )
        case .unreadable(let detail): self = .problem(.badRequest(detail))
        case .refused(let detail): self = .problem(RequestFault(.unprocessableContent, detail))
        case .conflict(let detail): self = .problem(RequestFault(.conflict, detail))
        case .unavailable:
            self = .problem(
                RequestFault(
                    .unavailable,
                    "Releases cannot be recorded now. Send it again: what is recorded already is not changed by that.",
                    header: ("Retry-After", "5")
                )
            )
        }
    }
}
