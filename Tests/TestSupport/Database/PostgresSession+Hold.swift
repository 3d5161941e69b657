import Dispatch
package import Postgres
import TestSystem
import Testing

extension PostgresSession {
    /// Holds the session where it is, in its transaction, until others have done something.
    ///
    /// The thread is the connection's own, and may wait.
    package func hold(while body: @escaping @Sendable () async throws -> Void) {
        let ended = DispatchSemaphore(value: 0)
        Task {
            defer { ended.signal() }
            do { try await body() } catch { Issue.record(error) }
        }
        #expect(ended.wait(timeout: .now() + .seconds(Patience.seconds)) == .success)
    }
}
