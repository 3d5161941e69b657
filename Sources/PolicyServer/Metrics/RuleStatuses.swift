import Logging
import PolicyStore
import Postgres
import Synchronization
import UpdatePolicy

/// Asks the database how many rules have which status: only it decides that, and a scrape waits for nothing.
///
/// It asks within a minute after another policy answers, or the clock changes a status.
final class RuleStatuses: Sendable {
    private let state: ServerState
    private let known = Mutex<RuleStatus.Totals?>(nil)

    init(_ state: ServerState) {
        self.state = state
    }

    /// What the database said last; nil: nothing yet.
    var totals: RuleStatus.Totals? { known.withLock(\.self) }

    /// Asks at each interval until the task is cancelled.
    func run() async {
        while !Task.isCancelled {
            await ask()
            try? await Task.sleep(for: .seconds(60))
        }
    }

    /// Asks once, if something may have changed. What the database does not say now stays as it said it last.
    func ask() async {
        if let totals, totals.token == state.policy.current?.token, totals.next.map({ state.clock() < $0 }) ?? true {
            return
        }
        do {
            let totals = try await state.withConnection(to: try await state.database()) { connection in
                try await connection.transaction(.repeatableReadReadOnly) { session in
                    try session.setTimeouts(statement: "30s")
                    return try RuleStatus.Totals(session)
                }
            }
            known.withLock { $0 = totals }
        } catch {
            state.logger.debug("What the rules are now cannot be asked", metadata: ["error": "\(error)"])
        }
    }
}
