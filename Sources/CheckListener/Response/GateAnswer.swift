// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

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

    /// Answers a question.
    ///
    /// - Parameter answer: The answer to a check of the client.
    init(
        to client: Client,
        refusal status: HTTPResponseStatus,
        after answer: Answer,
        by policy: CompiledPolicy,
        at now: Timestamp
    ) {
        // Of the few that are locked out it is asked whether what was not sent could change that.
        guard Self.locksOut(answer),
            let rule = policy.certainLockout(of: client, at: now)
        else {
            self = .pass
            return
        }
        refusal = LockedOutClient(status: status, rule: rule, messages: answer.body)
    }

    /// Whether it takes no longer than an event loop may spend on a request to answer a client.
    static func isQuick(after answer: Answer, by policy: CompiledPolicy) -> Bool {
        guard locksOut(answer), let bundle = answer.bundle else { return true }
        return policy.canAnnounce(toApp: bundle)
    }

    private static func locksOut(_ answer: Answer) -> Bool {
        answer.bundle != nil && answer.sent.contains(where: \.lockout)
    }
}
