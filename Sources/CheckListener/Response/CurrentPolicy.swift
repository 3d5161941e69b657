// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Synchronization
package import UpdatePolicy

/// The policy that answers checks now.
///
/// Readers on the event loops take one reference under a lock that is held for a few instructions; a reload builds
/// everything beforehand and swaps that reference.
package final class CurrentPolicy: Sendable {
    private struct State {
        var policy: CompiledPolicy?
        var sendsLockouts = true
    }

    private let state: Mutex<State>

    /// Creates the box; nil: checks are answered without messages until there is a policy.
    package init(_ policy: CompiledPolicy? = nil) {
        state = Mutex(State(policy: policy))
    }

    /// The policy that answers; nil before there is one.
    package var value: CompiledPolicy? {
        state.withLock { $0.policy }
    }

    /// Makes a policy the one that answers; without its lockouts while the brake is on.
    package func replace(with new: CompiledPolicy) {
        state.withLock { $0.policy = new.sendingLockouts($0.sendsLockouts) }
    }

    /// Makes a policy the one that answers, unless there is one already.
    ///
    /// - Returns: Whether it answers now.
    package func replaceNothing(with new: CompiledPolicy) -> Bool {
        state.withLock { state in
            guard state.policy == nil else { return false }
            state.policy = new.sendingLockouts(state.sendsLockouts)
            return true
        }
    }

    /// Sends lockouts, or each as a plain message from now on, by this policy and all that follow.
    package func sendLockouts(_ sends: Bool) {
        state.withLock { state in
            state.sendsLockouts = sends
            state.policy = state.policy?.sendingLockouts(sends)
        }
    }
}
