// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Synchronization
package import UpdatePolicy

/// The policy that answers checks now.
///
/// Readers on the event loops take one reference under a lock that is held for a few instructions; a reload builds
/// everything beforehand and swaps that reference.
package final class CurrentPolicy: Sendable {
    private let policy: Mutex<CompiledPolicy?>

    /// Creates the box; nil: checks are answered without messages until there is a policy.
    package init(_ policy: CompiledPolicy? = nil) {
        self.policy = Mutex(policy)
    }

    /// The policy that answers; nil before there is one.
    package var value: CompiledPolicy? {
        policy.withLock { $0 }
    }

    /// Makes a policy the one that answers.
    package func replace(with new: CompiledPolicy) {
        policy.withLock { $0 = new }
    }

    /// Makes a policy the one that answers, unless there is one already.
    ///
    /// - Returns: Whether it answers now.
    package func replaceNothing(with new: CompiledPolicy) -> Bool {
        policy.withLock { current in
            guard current == nil else { return false }
            current = new
            return true
        }
    }
}
