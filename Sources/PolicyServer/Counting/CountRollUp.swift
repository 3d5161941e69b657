// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

public import Logging
import PolicyStore
public import Postgres
public import ServiceLifecycle
public import UpdatePolicy

/// Keeps the tables of counts at a reasonable size: hours become days, and old days are deleted.
///
/// All servers of a database try; one at a time does it.
public struct CountRollUp: Service {
    private let database: @Sendable () async throws -> PostgresConfiguration
    private let daysKept: Int
    private let clock: @Sendable () -> Timestamp
    private let logger: Logger

    /// How long after its start a server rolls up first.
    private static let firstDelay: Duration = .seconds(60)
    /// How often it does afterwards.
    private static let interval: Duration = .seconds(3_600)

    /// Creates the service.
    ///
    /// - Parameters:
    ///   - database: Where the database is, asked before each connection; may bring the database up.
    ///   - daysKept: How many days are kept, the current one not counted.
    ///   - clock: The time.
    ///   - logger: Where failures are logged.
    public init(
        database: @escaping @Sendable () async throws -> PostgresConfiguration,
        daysKept: Int,
        clock: @escaping @Sendable () -> Timestamp,
        logger: Logger
    ) {
        self.database = database
        self.daysKept = daysKept
        self.clock = clock
        self.logger = logger
    }

    /// Rolls up now and then until graceful shutdown.
    public func run() async throws {
        await cancelWhenGracefulShutdown {
            try? await Task.sleep(for: Self.firstDelay)
            while !Task.isCancelled {
                do {
                    try await rollUp()
                } catch {
                    if !Task.isCancelled {
                        logger.warning("The counts of checks cannot be rolled up", metadata: ["error": "\(error)"])
                    }
                }
                try? await Task.sleep(for: Self.interval)
            }
        }
    }

    /// Rolls up all there is, step by step, over a connection for the purpose.
    func rollUp() async throws {
        let connection = try await PostgresConnection.connect(try await database(), logger: logger)
        let result: Result<Void, any Error>
        do {
            result = .success(try await rollUp(connection))
        } catch {
            result = .failure(error)
        }
        await connection.close()
        try result.get()
    }

    private func rollUp(_ connection: PostgresConnection) async throws {
        var total = CountStore.RollUpStep()
        while let step = try await step(connection), !step.isDone {
            total.add(step)
        }
        guard !total.isDone else { return }
        logger.info(
            "Rolled up the counts of checks",
            metadata: ["counts.rolledUp": "\(total.rolledUp)", "counts.deleted": "\(total.deleted)"]
        )
    }

    private func step(_ connection: PostgresConnection) async throws -> CountStore.RollUpStep? {
        try await connection.transaction { [daysKept, clock] session in
            try CountStore.rollUp(at: clock(), keepingDays: daysKept, session)
        }
    }
}
