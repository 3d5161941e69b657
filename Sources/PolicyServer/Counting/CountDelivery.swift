// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Logging
import PolicyStore
import Postgres
import Synchronization
import UpdatePolicy

/// Writes counts from the recorders to the database, over its own connection.
actor CountDelivery {
    /// Set once all of a batch was sent and nothing but the commit is left.
    private final class CommitMark: Sendable {
        let isReached = Atomic(false)
    }

    /// The database did not take a batch in time.
    private struct TooSlow: Error, CustomStringConvertible {
        let limit: Duration
        var description: String { "the database did not take them within \(limit)" }
    }

    private let database: @Sendable () async throws -> PostgresConfiguration
    private let counting: CheckCounting
    private let clock: @Sendable () -> Timestamp
    private let logger: Logger
    private var connection: PostgresConnection?
    private var backlog = CountBacklog()
    private var droppedInOutage = 0

    /// Creates a delivery.
    ///
    /// - Parameters:
    ///   - database: Where the database is, asked before each connection.
    ///   - counting: What is counted.
    ///   - clock: The time.
    ///   - logger: Where dropped counts are logged.
    init(
        database: @escaping @Sendable () async throws -> PostgresConfiguration,
        counting: CheckCounting,
        clock: @escaping @Sendable () -> Timestamp,
        logger: Logger
    ) {
        self.database = database
        self.counting = counting
        self.clock = clock
        self.logger = logger
    }

    /// Writes what was counted since the last time.
    ///
    /// - Parameters:
    ///   - isLast: Whether what cannot be written now is lost.
    ///   - limit: How long writing may take, connecting included.
    func deliver(isLast: Bool, within limit: Duration = .seconds(5)) async {
        let batch = backlog.nextBatch(adding: counting.drain(at: clock()))
        if !batch.isEmpty {
            let (outcome, error) = await write(batch, within: limit)
            let dropped = backlog.attemptEnded(outcome, isLast: isLast)
            if let error {
                counting.noteFailure(dropped: dropped)
                report(dropped, error)
            } else {
                counting.noteWritten(batch.totalChecks, at: clock())
                reportSuccess()
            }
        }
        if isLast { await disconnect() }
    }

    private func write(_ batch: CountBatch, within limit: Duration) async -> (CountBacklog.Outcome, (any Error)?) {
        let mark = CommitMark()
        do {
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                tasks.addTask { try await self.attempt(batch, mark) }
                tasks.addTask {
                    try await Task.sleep(for: limit)
                    throw TooSlow(limit: limit)
                }
                defer { tasks.cancelAll() }
                try await tasks.next()
            }
            return (.written, nil)
        } catch {
            await disconnect()
            return (mark.isReached.load(ordering: .acquiring) ? .unknown : .notWritten, error)
        }
    }

    private func attempt(_ batch: CountBatch, _ mark: CommitMark) async throws {
        let connection = try await connected()
        try await connection.transaction { session in
            try CountStore.add(batch, session)
            mark.isReached.store(true, ordering: .releasing)
        }
    }

    private func connected() async throws -> PostgresConnection {
        if let connection, await connection.isHealthy { return connection }
        let connection = try await PostgresConnection.connect(try await database(), logger: logger)
        self.connection = connection
        return connection
    }

    private func disconnect() async {
        await connection?.close()
        connection = nil
    }

    /// Logs once in an outage that counts are dropped.
    private func report(_ dropped: Int, _ error: any Error) {
        if dropped > 0, droppedInOutage == 0 {
            logger.warning(
                "Counts of checks are dropped, because the database cannot be written",
                metadata: ["counts.dropped": "\(dropped)", "error": "\(error)"]
            )
        } else {
            logger.debug("Counts of checks cannot be written", metadata: ["error": "\(error)"])
        }
        droppedInOutage += dropped
    }

    private func reportSuccess() {
        guard droppedInOutage > 0 else { return }
        logger.notice(
            "Counts of checks are written again",
            metadata: ["counts.dropped": "\(droppedInOutage)"]
        )
        droppedInOutage = 0
    }
}
