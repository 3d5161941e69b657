import PolicyStore
import UpdatePolicy

/// How often each turn that a rule can take came up, so that a comparison shows what it compared.
struct Coverage: Sendable {
    private(set) var counts: [String: Int] = [:]

    /// The turns that every comparison of some size must have seen: each condition must have decided, also one that has
    /// just been added and that no generator draws yet.
    static let required = others.union(
        Rule.columns.lazy.filter { $0.role == .condition }.map(\.name)
            // These have turns of their own.
            .filter { !["bundle", "target", "soak"].contains($0) }
    ).union(RuleStatus.Name.allCases.map { "status: \($0.rawValue)" })

    private static let others: Set<String> = [
        "sent", "sent, a lockout", "sent, a lockout with an end", "sent, translated or filled in", "sent, a link",
        "sent, hints", "sent, hints and a target", "sent without lockout, hints",
        "sent: the person asked", "sent without lockout: the person asked",
        "sent without lockout: no offer", "sent without lockout: the offer is not above the client",
        "sent without lockout: the rule matches the offer", "sent without lockout: the number of no system",
        "after a final rule",
        "attributes: not", "attributes: range", "target reached", "target: nothing awaited", "target: staged",
        "target: no live date", "target: live",
        "target: region",
        "target: os", "target: soaks", "starts_at", "ends_at", "rollout", "rollout without install", "enabled",
        "paused", "held",
    ]

    /// Counts what the rows of an answer say.
    mutating func add(_ answer: Answer) {
        for row in answer.explanations {
            let outcome = row[2]?.string ?? ""
            let turn = outcome == "no match" ? Self.condition(row) : outcome
            let reasons = row[5]?.string.split(separator: ", os ") ?? []
            if row[3] == "rollout", turn.hasPrefix("sent") {
                counts["\(turn): the person asked", default: 0] += 1
                continue
            }
            counts[turn == "sent without lockout" ? "\(turn): \(reasons.first ?? "")" : turn, default: 0] += 1
            if reasons.count > 1 { counts["sent without lockout: the number of no system", default: 0] += 1 }
        }
        for row in answer.statuses {
            counts["status: \(row[1]?.string ?? "")", default: 0] += 1
            if row[5]?.string.contains("its steps have been held") == true { counts["held", default: 0] += 1 }
        }
        for row in answer.messages {
            if row[4] == "true" { counts["sent, a lockout", default: 0] += 1 }
            if row[5] != nil { counts["sent, a lockout with an end", default: 0] += 1 }
            if row[6] != nil || row[7] != nil || row[8] == "true" {
                counts["sent, hints", default: 0] += 1
                if row[9] != nil { counts["sent, hints and a target", default: 0] += 1 }
                if answer.explanations.contains(where: { $0[1] == row[0] && $0[2] == "sent without lockout" }) {
                    counts["sent without lockout, hints", default: 0] += 1
                }
            }
            if row[3] != nil { counts["sent, a link", default: 0] += 1 }
            if row[1]?.string.contains(": ") == true { counts["sent, translated or filled in", default: 0] += 1 }
        }
    }

    private static func condition(_ row: Answer.Row) -> String {
        let condition = row[3]?.string ?? ""
        if condition.hasPrefix("attributes.") {
            let expected = row[4]?.string ?? ""
            return expected.hasPrefix("not ")
                ? "attributes: not"
                : expected.contains(where: { "<>".contains($0) }) ? "attributes: range" : "attributes"
        }
        if condition == "rollout" { return row[6] == nil ? "rollout without install" : condition }
        guard condition == "target" else { return condition }
        if row[4]?.string.hasPrefix("<") == true { return "target reached" }
        guard let awaited = row[8]?.string, let reason = awaited.split(separator: ": ").last else {
            return "target: nothing awaited"
        }
        return reason.hasPrefix("no live date") ? "target: no live date" : "target: \(reason.prefix { $0 != " " })"
    }

    /// All turns and their counts, the rarest first.
    var summary: String {
        counts.sorted { ($0.value, $0.key) < ($1.value, $1.key) }.map { "\($0.key) \($0.value)" }.joined(
            separator: ", "
        )
    }
}
