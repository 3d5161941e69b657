import Logging
import PolicyStore
import Postgres
import ServiceLifecycle
import Synchronization
import UpdatePolicy

/// Asks the database how many rules have which status: only it decides that, and a scrape waits for nothing.
///
/// It asks within a minute after another policy answers, or the clock changes a status.
final class RuleStatusService: Service {
    private let database: @Sendable () async throws -> PostgresConfiguration
    private let policy: LivePolicy
    private let clock: @Sendable () -> Timestamp
    private let logger: Logger
    private let known = Mutex<RuleStatus.Totals?>(nil)

    private static let interval: Duration = .seconds(60)

    /// Creates the service.
    ///
    /// - Parameters:
    ///   - database: Where the database is, asked before each connection; may bring the database up.
    ///   - policy: The policy that answers.
    ///   - clock: The time.
    ///   - logger: Where failures are logged.
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

    /// Asks at each interval until graceful shutdown.
    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                await self.ask()
                try? await Task.sleep(for: Self.interval)
            }
        }
    }

    /// Asks once, if something may have changed. What the database does not say now stays as it said it last.
    func ask() async {
        if let totals, totals.token == policy.current?.token, totals.next.map({ clock() < $0 }) ?? true { return }
        do {
            let connection = try await PostgresConnection.connect(try await database(), logger: logger)
            let read: Result<RuleStatus.Totals, any Error>
            do {
                read = .success(
                    try await connection.transaction(.repeatableReadReadOnly) { session in
                        try session.setTimeouts(statement: "30s")
                        return try RuleStatus.Totals(session)
                    }
                )
            } catch {
                read = .failure(error)
            }
            await connection.close()
            let totals = try read.get()
            known.withLock { $0 = totals }
        } catch {
            logger.debug("What the rules are now cannot be asked", metadata: ["error": "\(error)"])
        }
    }
}
