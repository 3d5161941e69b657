// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import TestPolicies
import UpdatePolicy

/// What a check comes to, in the fields that SQL and the engine must agree on.
///
/// All fields are texts that compare by their bytes.
struct Answer: Sendable, Equatable {
    typealias Row = [UTF8Text?]

    static let messageFields = ["id", "title", "text", "link", "lockout", "remind", "shows", "skip", "target"]
    static let explanationFields = [
        "position", "key", "outcome", "condition", "expected", "actual", "bucket", "rollout", "release",
    ]

    var messages: [Row] = []
    var explanations: [Row] = []
}

extension Answer: CustomStringConvertible {
    var description: String {
        let messages = messages.map { "  " + Self.line($0, Self.messageFields) }
        let explanations = explanations.map { "  " + Self.line($0, Self.explanationFields) }
        return (["messages:"] + messages + ["explanations:"] + explanations).joined(separator: "\n")
    }

    private static func line(_ row: Row, _ names: [String]) -> String {
        zip(names, row).compactMap { name, value in
            value.map { "\(name)=\(JSONText.quoted($0.string))" }
        }.joined(separator: " ")
    }
}
