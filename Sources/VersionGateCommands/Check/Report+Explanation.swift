import PolicyStore
import Reports
import UpdatePolicy

extension Report {
    /// Why each rule was sent to a client or not: a sentence each, what decides first.
    ///
    /// - Parameter changes: Of rules that are sent, the change that was the last of each.
    static func explanation(
        of policy: CompiledPolicy,
        _ client: Client,
        at time: Timestamp,
        changes: [String: String]
    ) -> Report {
        let explanations = policy.explain(client, at: time)
        let messages = policy.messages(for: client, at: time)
        let headline: Sentence =
            switch messages.count {
            case _ where explanations.isEmpty: "No rules are for this client's app."
            case 0: "This client gets no message."
            case 1: "This client gets 1 message."
            default: "This client gets \(messages.count) messages."
            }
        let sentences = Explanation.decidingFirst(explanations).map { explanation in
            let text = explanation.sentence(for: client) { TimeText.local($0, from: time) }
            let hints = messages.first { $0.id == explanation.key }?.hints?.sentence
            return [text, hints, explanation.match, changes[explanation.key]].compactMap(\.self).joined(separator: " ")
        }
        let table = Table(
            ifEmpty: "", explanations,
            columns: [
                Column(nil, json: "position") { .data($0.position) }, Column(nil, json: "key") { .data($0.key) },
                Column(nil, json: "outcome") { .data($0.outcome.rawValue) },
                Column(nil, json: "condition") { .data($0.condition) },
                Column(nil, json: "expected") { .data($0.expected) }, Column(nil, json: "actual") { .data($0.actual) },
                Column(nil, json: "bucket") { .data($0.bucket) }, Column(nil, json: "rollout") { .data($0.rollout) },
                Column(nil, json: "release") { .data($0.release) },
            ]
        )
        return Report(
            at: time, ([headline] + sentences.map { Sentence($0) }).map { .hint($0) } + [.table(table)]
        )
    }
}
