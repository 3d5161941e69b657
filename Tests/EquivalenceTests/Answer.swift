import PolicyStore
import TestPolicies
import UpdatePolicy

/// What a check comes to, in the fields that SQL and the engine must agree on.
///
/// All fields are texts that compare by their bytes.
struct Answer: Sendable, Equatable {
    typealias Row = [UTF8Text?]

    static let messageFields = ["id", "title", "text", "link", "lockout", "until", "remind", "shows", "skip", "target"]
    static let explanationFields = [
        "position", "key", "outcome", "condition", "expected", "actual", "bucket", "rollout", "release",
    ]

    static let statusFields = ["key", "status", "since", "next", "rollout", "reason"]

    var messages: [Row] = []
    var explanations: [Row] = []
    /// What each rule of the policy is at the time of the check.
    var statuses: [Row] = []

    /// What a check says against the statuses; nil: nothing.
    ///
    /// Whether a message is sent is decided for one client, and what its rule is for all of them, so neither follows from
    /// the other. A rule that waits for its rollout is sent to who asked for the check.
    var contradiction: String? {
        let names = Dictionary(statuses.map { ($0[0], $0[1]?.string ?? "") }) { first, _ in first }
        for message in messages {
            let key = message[0]
            let name = names[key].flatMap { RuleStatus.Name(rawValue: $0) }
            let isAskedFor = explanations.contains { $0[1] == key && $0[3] == "rollout" }
            guard let name, name.isSent || name == .waiting && isAskedFor else {
                return "\(key?.string ?? "") is sent and \(names[key] ?? "unknown")"
            }
            if name == .onWithoutLockout, message[4] == "true" {
                return "\(key?.string ?? "") locks out and is \(name)"
            }
        }
        return nil
    }
}

extension Answer: CustomStringConvertible {
    var description: String {
        let messages = messages.map { "  " + Self.line($0, Self.messageFields) }
        let explanations = explanations.map { "  " + Self.line($0, Self.explanationFields) }
        let statuses = statuses.map { "  " + Self.line($0, Self.statusFields) }
        return (["messages:"] + messages + ["explanations:"] + explanations + ["statuses:"] + statuses)
            .joined(separator: "\n")
    }

    private static func line(_ row: Row, _ names: [String]) -> String {
        zip(names, row).compactMap { name, value in
            value.map { "\(name)=\(JSONText.quoted($0.string))" }
        }.joined(separator: " ")
    }
}
