import NIOHTTP1

extension ConnectionState {
    /// What follows from an event.
    struct Step {
        /// What the handler of the connection does.
        let action: Action
        /// The phase whose time begins now, anew where the connection was in it already; nil: the time goes on.
        let entered: ConnectionPhase?
    }

    /// What the handler of a connection does next.
    enum Action {
        case none
        /// Sends `100 Continue`.
        case sendContinue
        /// Answers a request; ends the output after it where the response closes the connection.
        case answer(ParsedRequest, ConnectionHeader)
        /// Answers with a problem.
        case refuse(Refusal)
        /// Sends what is written.
        case flush
        /// Answers what was held.
        case resume
        /// Says that the document that the connection waits for could not be made in time.
        case giveUpDocument
        /// Ends the output after what is written.
        case endOutput
        /// Closes the output; all of it is sent.
        case closeOutput
        /// Closes the connection and counts why; what is written and not sent is lost.
        case close(RefusalReason?)
        /// Closes the connection after what is written, and counts why.
        case flushAndClose(RefusalReason?)
    }

    /// A request that is refused.
    struct Refusal {
        /// How it is answered.
        let fault: RequestFault
        /// What metrics call the request.
        var request = RequestLabel()
        /// What the response says about the connection.
        let connection: ConnectionHeader
        /// Whether the output ends after the response; it does not while the rest of the request is discarded.
        let endsOutput: Bool
        /// The reason in metrics, where the status alone does not name it.
        var reason: RefusalReason?
    }

    /// What arrives, and is held where it cannot be answered yet.
    enum Arrival {
        /// A part of a request.
        case part(HTTPServerRequestPart)
        /// Bytes that are no request.
        case fault(RequestFault, RefusalReason?)
    }
}
