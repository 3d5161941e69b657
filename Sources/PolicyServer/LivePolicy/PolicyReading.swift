// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import PolicyStore
import UpdatePolicy

/// What was read from the database to make the next policy.
enum PolicyReading: Sendable {
    /// All rows.
    case whole(Policy)
    /// The rows of what differs from the policy in memory.
    case update(PolicyUpdate, of: CompiledPolicy)

    /// The state that was read.
    var version: PolicyVersion {
        switch self {
        case .whole(let policy): PolicyVersion(revision: policy.revision, token: policy.token)
        case .update(let update, _): PolicyVersion(revision: update.policy.revision, token: update.policy.token)
        }
    }

    /// How much was read, in words for the log.
    var extent: String {
        switch self {
        case .whole: "everything"
        case .update(let update, _): "\(update.bundles.count) apps"
        }
    }

    /// Compiles the policy, less urgently than checks are answered.
    func compile() async throws -> CompiledPolicy {
        try await LowPriorityThread.run(named: "compile-policy") { try compiled() }
    }

    private func compiled() throws -> CompiledPolicy {
        switch self {
        case .whole(let policy): try CompiledPolicy(policy)
        case .update(let update, let policy): try policy.updated(with: update)
        }
    }
}
