import NIOHTTP1
import UpdatePolicy

/// The answer to a gateway about a client: whether a check would be sent a lockout, whatever the question does not say.
struct GateAnswer: Sendable {
    /// A client that a gateway is to turn away.
    struct LockedOutClient: Sendable {
        let status: HTTPResponseStatus
        /// The key of the rule that locks it out.
        let rule: String
        /// The body that it gets.
        let messages: [UInt8]
    }

    /// nil lets the client pass.
    let refusal: LockedOutClient?

    /// The answer of a server that cannot say more.
    static let pass = GateAnswer(refusal: nil)

    private init(refusal: LockedOutClient?) {
        self.refusal = refusal
    }

    /// The most that an event loop may look at to answer: rules, and releases for each lockout.
    static let mostSteps = 1_000

    /// Answers a question; nil where that takes more steps.
    init?(
        to client: Client,
        refusal status: HTTPResponseStatus,
        by policy: CompiledPolicy,
        at now: Timestamp,
        within steps: Int = .max
    ) {
        switch policy.lockout(of: client, at: now, within: steps) {
        case .open: self = .pass
        case .unfinished: return nil
        case .rule(let rule):
            refusal = LockedOutClient(status: status, rule: rule, messages: policy.answer(to: client, at: now).body)
        }
    }
}
