import Glibc
import Synchronization

/// Something that happens once, for which tasks and blocked threads can wait.
final class Signal: Sendable {
    private struct State {
        var hasHappened = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    func send() {
        let waiters = state.withLock { state in
            state.hasHappened = true
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    func wait() async {
        await withCheckedContinuation { continuation in
            let hasHappened = state.withLock { state in
                if !state.hasHappened { state.waiters.append(continuation) }
                return state.hasHappened
            }
            if hasHappened { continuation.resume() }
        }
    }

    /// For a body of a session, which has a thread to block.
    func wait() {
        while !state.withLock({ $0.hasHappened }) { sched_yield() }
    }
}
