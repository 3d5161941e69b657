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

    /// Makes a policy the one that answers.
    ///
    /// - Parameter sends: Whether lockouts are sent from now on; nil: as before.
    package func replace(with new: CompiledPolicy, sendingLockouts sends: Bool? = nil) {
        state.withLock { state in
            state.sendsLockouts = sends ?? state.sendsLockouts
            state.policy = new.sendingLockouts(state.sendsLockouts)
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
