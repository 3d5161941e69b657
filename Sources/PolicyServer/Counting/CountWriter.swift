import Logging
import Postgres
import ServiceLifecycle
import UpdatePolicy

/// Writes the counts of checks to the database at each interval, and the rest when the server ends.
///
/// Shut it down after the listener whose checks it counts, so that the last checks are counted too.
struct CountWriter: Service {
    private let delivery: CountDelivery
    private let interval: Duration

    /// Creates a writer.
    ///
    /// - Parameters:
    ///   - database: Where the database is, asked before each connection; may bring the database up.
    ///   - counting: What is counted.
    ///   - server: What this server calls itself, and the revision that answers; nil while there is none.
    ///   - interval: How often to write.
    ///   - clock: The time.
    ///   - logger: Where dropped counts are logged.
    init(
        database: @escaping @Sendable () async throws -> PostgresConfiguration,
        counting: CheckCounting,
        server: @escaping @Sendable () -> (name: String, revision: Int64)?,
        interval: Duration,
        clock: @escaping @Sendable () -> Timestamp,
        logger: Logger
    ) {
        delivery = CountDelivery(database: database, counting: counting, server: server, clock: clock, logger: logger)
        self.interval = interval
    }

    /// Writes until graceful shutdown or cancellation, and then once more.
    func run() async {
        while !Task.isCancelled, !Task.isShuttingDownGracefully {
            await cancelWhenGracefulShutdown { try? await Task.sleep(for: interval) }
            guard !Task.isCancelled, !Task.isShuttingDownGracefully else { break }
            await delivery.deliver(isLast: false)
        }
        // The last counts are written also when the task was cancelled; the attempt has a bound of its own.
        await Task { [delivery] in await delivery.deliver(isLast: true) }.value
    }
}
