import Logging
import PolicyStore
import Postgres
import Synchronization
import UpdatePolicy

/// Asks the database how many rules have which status: only it decides that, and a scrape waits for nothing.
///
/// It asks within a minute after another policy answers, or the clock changes a status.
final class RuleStatuses: Sendable {
    private let database: @Sendable () async throws -> PostgresConfiguration
    private let policy: LivePolicy
    private let clock: @Sendable () -> Timestamp
    private let logger: Logger
    private let known = Mutex<RuleStatus.Totals?>(nil)

    private static let interval: Duration = .seconds(60)

    init(
        database: @escaping @Sendable () async throws -> PostgresConfiguration,
        policy: LivePolicy,
        clock: @escaping @Sendable () -> Timestamp,
        logger: Logger
    ) {
        (self.database, self.policy, self.clock, self.logger) = (database, policy, clock, logger)
    }

    /// What the database said last; nil: nothing yet.
    var totals: RuleStatus.Totals? { known.withLock(\.self) }

    /// Asks at each interval until the task is cancelled.
    func run() async {
        while !Task.isCancelled {
            await ask()
            try? await Task.sleep(for: Self.interval)
        }
    }

    /// Asks once, if something may have changed. What the database does not say now stays as it said it last.
    func ask() async {
        if let totals, totals.token == policy.current?.token, totals.next.map({ clock() < $0 }) ?? true { return }
        do {
            let totals = try await PostgresConnection.with(try await database(), logger: logger) { connection in
                try await connection.transaction(.repeatableReadReadOnly) { session in
                    try session.setTimeouts(statement: "30s")
                    return try RuleStatus.Totals(session)
                }
            }
            known.withLock { $0 = totals }
        } catch {
            logger.debug("What the rules are now cannot be asked", metadata: ["error": "\(error)"])
        }
    }
}

extension PostgresConnection {
    /// Runs `body` with a new connection, which is closed at the end.
    static func with<Result: Sendable>(
        _ configuration: PostgresConfiguration,
        logger: Logger,
        _ body: (PostgresConnection) async throws -> Result
    ) async throws -> Result {
        let connection = try await connect(configuration, logger: logger)
        do {
            let result = try await body(connection)
            await connection.close()
            return result
        } catch {
            await connection.close()
            throw error
        }
    }
}
