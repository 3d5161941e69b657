import Synchronization

/// What a fuzz test over sockets has seen.
final class FuzzCounts: Sendable {
    private let counts = Mutex((connections: 0, responses: 0, checks: 0))

    /// What was seen until now.
    var current: (connections: Int, responses: Int, checks: Int) {
        counts.withLock { $0 }
    }

    /// A connection has ended after so many responses.
    func noteConnection(responses: Int) {
        counts.withLock {
            $0.connections += 1
            $0.responses += responses
        }
    }

    /// A check of a client that does nothing wrong was answered.
    func noteCheck() {
        counts.withLock { $0.checks += 1 }
    }
}
