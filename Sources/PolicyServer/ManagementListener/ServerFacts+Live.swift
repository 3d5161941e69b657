// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import CheckListener
import PolicyPages

extension ServerFacts {
    /// What a server knows at this moment.
    init(_ policy: LivePolicy, _ counting: CheckCounting?) {
        self.init()
        let status = policy.status
        self.policy = policy.current
        isFromDisk = status.source == .file
        loadedAt = status.loadedAt
        databaseIsReachable = status.databaseIsReachable
        lastPolledAt = status.lastPolledAt
        fault = status.failure.map { ($0.reason, $0.at) }
        guard let counting else { return }
        let names = counting.recorders.unknownNames
        unknowns.bundles = names.bundles.map { UnknownNames.Entry(name: $0.name, checks: $0.count, error: $0.error) }
        unknowns.languages = names.languages.map {
            UnknownNames.Entry(name: $0.name, checks: $0.count, error: $0.error)
        }
    }
}
