// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import UpdatePolicy

/// Shows why each rule was sent or not.
struct ExplanationText {
    private let explanations: [Explanation]

    init(_ explanations: [Explanation]) {
        self.explanations = explanations
    }

    /// A row a rule, for people.
    var text: String {
        guard !explanations.isEmpty else { return "No rules are for this client's app." }
        var table = TextTable("RULE", "OUTCOME", "CONDITION", "EXPECTED", "ACTUAL", "BUCKET", "ROLLOUT", "RELEASE")
        for explanation in explanations {
            table.add(
                explanation.key,
                explanation.outcome.rawValue,
                explanation.condition ?? "",
                explanation.expected ?? "",
                explanation.actual ?? Self.absence(explanation),
                explanation.bucket.map(String.init) ?? "-",
                "\(explanation.rollout) %",
                explanation.release ?? ""
            )
        }
        return table.text
    }

    /// The text for a missing actual value.
    private static func absence(_ explanation: Explanation) -> String {
        switch explanation.condition {
        case nil, "final": ""
        case "target" where explanation.expected?.hasPrefix(">=") == true: "no offer"
        default: "not sent"
        }
    }

    /// An array of objects, for programs.
    var json: String {
        JSONText.array(
            explanations.map { explanation in
                JSONText.object([
                    "position": "\(explanation.position)", "key": JSONText.string(explanation.key),
                    "outcome": JSONText.string(explanation.outcome.rawValue),
                    "condition": JSONText.optional(explanation.condition),
                    "expected": JSONText.optional(explanation.expected),
                    "actual": JSONText.optional(explanation.actual),
                    "bucket": explanation.bucket.map(String.init) ?? "null", "rollout": "\(explanation.rollout)",
                    "release": JSONText.optional(explanation.release),
                ])
            }
        )
    }
}
