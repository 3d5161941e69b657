// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Postgres
import UpdatePolicy

extension PolicyEditor {
    /// Removes the planned steps of a rule and keeps the percentage that is in force now.
    public func keepRolloutInForce(rule key: String) throws {
        let rollout = try session.query("SELECT rollout_at($1, now())::text", [key]).value(as: String.self)
        try delete(.rolloutSteps, where: [.text("rule", key)])
        try update(.rules, where: [.text("key", key)], set: [.numeric("rollout", rollout)])
    }
}
