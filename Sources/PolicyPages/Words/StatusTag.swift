// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import PolicyStore
import UpdatePolicy

/// The status of a rule as every page shows it.
struct StatusTag {
    let text: String
    /// The class of the style sheet, which gives the colour.
    let kind: String
    /// Why it is so; empty: the status says it.
    let reason: String

    init(_ status: RuleStatus, of rule: Rule) {
        text = status.name.rawValue
        reason = status.reason.map { PageScene.words.sentence($0) } ?? ""
        kind =
            switch status.name {
            case .disabled, .ended: "off"
            case .on: rule.lockout ? "lockout" : "on"
            case .partlyWithoutLockout: "lockout"
            case .paused, .scheduled, .waiting, .hidden, .onWithoutLockout: "part"
            }
    }
}
