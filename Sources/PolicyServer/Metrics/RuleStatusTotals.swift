// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Synchronization
import UpdatePolicy

/// How many rules have which status. Worked out anew only when another policy answers, or when the clock changes one.
final class RuleStatusTotals: Sendable {
    /// What rules are counted by.
    struct Kind: Hashable {
        let status: RuleStatus.Name
        let isLockout: Bool
    }

    private struct Known {
        let policy: UInt64
        let at: Timestamp
        let until: Timestamp?
        let totals: [Kind: Int]

        func isRight(at time: Timestamp) -> Bool { at <= time && until.map { time < $0 } ?? true }
    }

    private let known = Mutex<Known?>(nil)

    /// The totals of a policy at a moment; kinds without a rule are not in them.
    func totals(of policy: CompiledPolicy, at time: Timestamp) -> [Kind: Int] {
        known.withLock { known in
            if let known, known.policy == policy.serialNumber, known.isRight(at: time) { return known.totals }
            let policyRows = policy.policy
            let statuses = policyRows.ruleStatuses(at: time)
            var totals: [Kind: Int] = [:]
            for rule in policyRows.rules {
                guard let status = statuses[rule.key] else { continue }
                totals[Kind(status: status.name, isLockout: rule.lockout), default: 0] += 1
            }
            let until = statuses.values.compactMap(\.next).min()
            known = Known(policy: policy.serialNumber, at: time, until: until, totals: totals)
            return totals
        }
    }
}
