import UpdatePolicy

/// Shows why each rule was sent or not.
struct ExplanationText {
    private let explanations: [Explanation]
    private let client: Client
    private let time: Timestamp
    private let messages: [Message]
    /// Of rules that are sent, the change that was the last of each.
    private let changes: [String: String]

    init(_ policy: CompiledPolicy, _ client: Client, at time: Timestamp, changes: [String: String] = [:]) {
        self.changes = changes
        explanations = policy.explain(client, at: time)
        messages = policy.messages(for: client, at: time)
        self.client = client
        self.time = time
    }

    /// A sentence for each rule, for people; what decides comes first.
    func text(on terminal: Terminal) -> String {
        guard !explanations.isEmpty else { return "No rules are for this client's app." }
        let sent = explanations.count { $0.outcome == .sent || $0.outcome == .sentWithoutLockout }
        let headline =
            switch sent {
            case 0: "This client gets no message."
            case 1: "This client gets 1 message."
            default: "This client gets \(sent) messages."
            }
        let sentences = Explanation.decidingFirst(explanations).map { explanation in
            let sentence = explanation.sentence(for: client) { TimeText.local($0, from: time) }.visible()
            let text = terminal.styled(explanation.key, .bold) + sentence.dropFirst(explanation.key.count)
            let hints = messages.first { $0.id == explanation.key }?.hints?.sentence
            let more = [explanation.match, changes[explanation.key]].map { $0?.visible() }
            return terminal.paragraphs(
                ([text, hints] + more).compactMap(\.self).joined(separator: " "),
                indentation: "  "
            )
        }
        return ([headline] + sentences).joined(separator: "\n")
    }

    /// An array of objects, for programs.
    var json: JSONValue {
        .array(
            explanations.map { explanation in
                [
                    "position": explanation.position, "key": explanation.key, "outcome": explanation.outcome.rawValue,
                    "condition": explanation.condition, "expected": explanation.expected,
                    "actual": explanation.actual, "bucket": explanation.bucket, "rollout": explanation.rollout,
                    "release": explanation.release,
                ]
            }
        )
    }
}
