import Dispatch

/// The end of the time of a check. What is under way then is cancelled, and not waited for.
final class Deadline: Sendable {
    private struct State {
        var hasPassed = false
        var whenPassed: [@Sendable () -> Void] = []
    }

    private let state = Locked(State())

    /// The time is up.
    func pass() {
        let actions = state.withLock { state in
            state.hasPassed = true
            defer { state.whenPassed = [] }
            return state.whenPassed
        }
        for action in actions { action() }
    }

    /// What `operation` gives; nil if the time is up before it does.
    func result<Value: Sendable>(of operation: @escaping @Sendable () async -> Value) async -> Value? {
        await withCheckedContinuation { continuation in
            let waiting = Locked<CheckedContinuation<Value?, Never>?>(continuation)
            let end: @Sendable (Value?) -> Void = { value in
                let continuation = waiting.withLock { waiting in
                    defer { waiting = nil }
                    return waiting
                }
                continuation?.resume(returning: value)
            }
            let task = Task { end(await operation()) }
            whenPassed {
                end(nil)
                // To cancel runs what the operation has set up for it, which may block.
                DispatchQueue(label: "dev.versiongate.cancel").async { task.cancel() }
            }
        }
    }

    private func whenPassed(_ action: @escaping @Sendable () -> Void) {
        let hasPassed = state.withLock { state in
            if !state.hasPassed { state.whenPassed.append(action) }
            return state.hasPassed
        }
        if hasPassed { action() }
    }
}
