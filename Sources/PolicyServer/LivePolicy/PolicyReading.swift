// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Foundation
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

    /// Compiles the policy on a thread of its own, away from the event loops and from the threads of Swift's
    /// concurrency, and less urgently than both.
    func compile() async throws -> CompiledPolicy {
        try await withCheckedThrowingContinuation { continuation in
            let thread = Thread {
                ThreadPriority.lower()
                continuation.resume(with: Result { try compiled() })
            }
            thread.name = "compile-policy"
            thread.start()
        }
    }

    private func compiled() throws -> CompiledPolicy {
        switch self {
        case .whole(let policy): try CompiledPolicy(policy)
        case .update(let update, let policy): try policy.updated(with: update)
        }
    }
}
