// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import PolicyStore
import UpdatePolicy

extension PolicyRow {
    /// What the row is called when people are told of it, as in the history.
    var nameForPeople: String {
        func text(_ column: String) -> String {
            switch self[column] {
            case .text(let text): text.string
            case .time(let time): time.description
            default: ""
            }
        }
        return switch table {
        case .apps: "app \(text("bundle"))"
        case .storeLinks: "store link \(text("bundle")) \(text("platform"))"
        case .releases: "release \(text("bundle")) \(text("version")) \(text("platform"))"
        case .rules: "rule \(text("key"))"
        case .ruleTexts: "text \(text("rule")) \(text("language"))"
        case .rolloutSteps: "rollout step \(text("rule")) \(text("at"))"
        }
    }
}
