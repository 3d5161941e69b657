import CheckListener
import Logging
import PolicyStore
import Postgres
import UpdatePolicy

/// Keeps the tables of counts small: merges kinds beyond the limit of a day, turns hours into days, and deletes old days.
/// Also reads the known kinds of clients, which are always counted separately.
///
/// All servers of a database try this; one at a time does it. Days are those of the database's clock.
struct CountRollUp: Sendable {
    let state: ServerState
    let counting: CheckCounting
    /// How many days are kept, the current one not counted.
    let daysKept: Int

    private static let firstDelay: Duration = .seconds(60)
    private static let interval: Duration = .seconds(3_600)

    /// Rolls up at each interval until the task is cancelled.
    func run() async {
        // The database may not be there yet; an hour later, or in a minute, that is a fault.
        await attempt("The kinds of clients of the last days cannot be read", .debug) { try await learn($0) }
        try? await Task.sleep(for: Self.firstDelay)
        while !Task.isCancelled {
            await attempt("The counts of checks cannot be rolled up", .warning) { connection in
                try await rollUp(connection)
                try await learn(connection)
            }
            try? await Task.sleep(for: Self.interval)
        }
    }

    private func attempt(
        _ failure: Logger.Message,
        _ level: Logger.Level,
        _ body: (PostgresConnection) async throws -> Void
    ) async {
        do {
            try await state.withConnection(to: try await state.primary(), body)
        } catch {
            if !Task.isCancelled { state.logger.log(level: level, failure, metadata: ["error": "\(error)"]) }
        }
    }

    /// Reads the kinds of the last days, which are counted separately from now on.
    func learn(_ connection: PostgresConnection) async throws {
        let limit = counting.maximumKnownKinds
        guard limit > 0 else { return }
        let kinds = try await connection.transaction(.repeatableReadReadOnly) { session in
            try session.setTimeouts(statement: "30s")
            return try CountReader(session).recentKinds(limit: limit)
        }
        counting.recorders.learn(kinds)
    }

    /// Merges and rolls up everything, step by step.
    func rollUp(_ connection: PostgresConnection) async throws {
        let now = try await connection.withSession { try CountStore.time($0) }
        let day: Int64 = 86_400_000_000
        // Today's kinds, those of the last hour of yesterday, and those of the day that is about to be rolled up.
        for days in [0, 1, CountStore.daysOfHours + 1] {
            try await merge(connection, at: now, dayOf: now.advanced(byMicroseconds: -days * day))
        }
        var total = CountStore.RollUpStep()
        while let step = try await step(connection, at: now), !step.isDone {
            total.add(step)
        }
        guard !total.isDone else { return }
        state.logger.info(
            "Rolled up the counts of checks",
            metadata: ["counts.rolledUp": "\(total.rolledUp)", "counts.deleted": "\(total.deleted)"]
        )
    }

    private func merge(_ connection: PostgresConnection, at now: Timestamp, dayOf day: Timestamp) async throws {
        var total = 0
        while true {
            let merged = try await connection.transaction { try CountStore.merge(at: now, dayOf: day, $0) }
            guard let merged, merged > 0 else { break }
            total += merged
        }
        guard total > 0 else { return }
        state.logger.warning(
            "Checks of too many kinds of clients in a day were merged; somebody may be inventing versions",
            metadata: ["counts.merged": "\(total)"]
        )
    }

    private func step(_ connection: PostgresConnection, at now: Timestamp) async throws -> CountStore.RollUpStep? {
        try await connection.transaction { [daysKept] session in
            try CountStore.rollUp(at: now, keepingDays: daysKept, session)
        }
    }
}
