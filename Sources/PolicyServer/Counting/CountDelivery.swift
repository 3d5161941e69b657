import Logging
import PolicyStore
import Postgres
import Synchronization
import UpdatePolicy

/// Writes counts from the recorders to the database, over its own connection.
actor CountDelivery {
    private let state: ServerState
    private let counting: CheckCounting
    private var connection: PostgresConnection?
    private var delivering: Task<Void, Never>?
    private var isOver = false
    private var backlog = CountBacklog()
    private var droppedInOutage = 0
    private var fusesAreJudged = true
    /// Blown fuses whose commit was sent and not answered.
    private var unanswered: [CountStore.Blow] = []
    private var lastSighting: ContinuousClock.Instant?
    private static let timeBetweenSightings: Duration = .seconds(30)

    init(_ state: ServerState, _ counting: CheckCounting) {
        (self.state, self.counting) = (state, counting)
    }

    /// Writes at each interval until the task is cancelled.
    nonisolated func run(every interval: Duration) async {
        while (try? await Task.sleep(for: interval)) != nil { await deliver(isLast: false) }
    }

    /// Writes what was counted since the last time, and now and then that this server is there. One delivery waits for the one
    /// before, and none is cut short by the cancellation of its caller.
    ///
    /// - Parameters:
    ///   - isLast: Whether what cannot be written now is lost.
    ///   - limit: How long writing may take, connecting included.
    func deliver(isLast: Bool, within limit: Duration = .seconds(5)) async {
        let before = delivering
        let task = Task {
            await before?.value
            await deliverNow(isLast: isLast, within: limit)
        }
        delivering = task
        await task.value
    }

    private func deliverNow(isLast: Bool, within limit: Duration) async {
        guard !isOver else { return }
        isOver = isLast
        let batch = backlog.nextBatch(adding: counting.drain(at: state.clock()))
        var isWritten = false
        if !batch.isEmpty {
            let (outcome, error) = await write(batch, within: limit)
            isWritten = error == nil
            let (dropped, now) = (backlog.attemptEnded(outcome, isLast: isLast), state.clock())
            counting.note { totals in
                totals.writable = error == nil
                totals.dropped += dropped
                guard error == nil else { return }
                totals.written += batch.totalChecks
                totals.lastWritten = now
            }
            report(dropped, error)
        }
        if batch.isEmpty ? !isLast : isWritten {
            if isWritten || !unanswered.isEmpty { await blowFuses(within: limit) }
            await noteServer(within: limit)
        }
        if isLast { await disconnect() }
    }

    /// Has the fuses judge what was written. What fails is tried again after the next write.
    private func blowFuses(within limit: Duration) async {
        let blow = Mutex<CountStore.Blow?>(nil)
        let isCommitted = Atomic(false)
        do {
            try await withTimeLimit(limit) {
                let connection = try await self.connected()
                try await self.countUnanswered(over: connection)
                try await connection.transaction { session in
                    let blown = try CountStore.blowFuses(session)
                    blow.withLock { $0 = blown }
                }
                isCommitted.store(true, ordering: .releasing)
            }
        } catch  where !isCommitted.load(ordering: .acquiring) {
            await disconnect()
            if let blown = blow.withLock(\.self), blown.rules > 0 { unanswered.append(blown) }
            counting.note { $0.fuseFailures += 1 }
            state.logger.log(
                level: fusesAreJudged ? .warning : .debug, "The fuses of lockouts cannot be judged",
                metadata: ["error": "\(error)"]
            )
            fusesAreJudged = false
            return
        } catch {
            // It was answered, only late.
        }
        fusesAreJudged = true
        countBlown(blow.withLock { $0?.rules ?? 0 })
    }

    /// Counts the fuses whose commit was not answered, once it is known to have been made.
    private func countUnanswered(over connection: PostgresConnection) async throws {
        for blow in unanswered {
            let isCommitted: Bool?
            do {
                isCommitted = try await connection.withSession { try CountStore.isCommitted(blow, $0) }
            } catch let error as PostgresError where error.code == .server {
                // After a failover it may not be there.
                isCommitted = false
            }
            guard let isCommitted else { continue }
            unanswered.removeAll { $0.transaction == blow.transaction }
            if isCommitted { countBlown(blow.rules) }
        }
    }

    private func countBlown(_ number: Int) {
        counting.note { $0.blownFuses += number }
        if number > 0 {
            state.logger.error(
                "Fuses have blown: lockouts were removed; the history has the figures",
                metadata: ["fuses.blown": "\(number)"]
            )
        }
    }

    private func write(_ batch: CountBatch, within limit: Duration) async -> (CountBacklog.Outcome, (any Error)?) {
        // All of the batch was sent, and nothing but the commit is left.
        let isSent = Atomic(false)
        do {
            try await withTimeLimit(limit) {
                let connection = try await self.connected()
                try await connection.transaction { session in
                    try CountStore.add(batch, session)
                    isSent.store(true, ordering: .releasing)
                }
            }
            return (.written, nil)
        } catch {
            await disconnect()
            return (isSent.load(ordering: .acquiring) ? .unknown : .notWritten, error)
        }
    }

    /// Notes that this server is there. Nothing depends on it, so a failure is nobody's concern.
    private func noteServer(within limit: Duration) async {
        guard let revision = state.policy.current?.revision,
            lastSighting.map({ .now - $0 >= Self.timeBetweenSightings }) ?? true
        else {
            return
        }
        lastSighting = .now
        let name = state.policy.status.serverName
        do {
            try await withTimeLimit(limit) {
                let connection = try await self.connected()
                try await ServerHeartbeat.note(name, revision: revision, over: connection)
            }
        } catch {
            await disconnect()
            state.logger.debug("That this server is up cannot be noted", metadata: ["error": "\(error)"])
        }
    }

    private func connected() async throws -> PostgresConnection {
        if let connection, await connection.isHealthy { return connection }
        let connection = try await PostgresConnection.connect(try await state.primary(), logger: state.logger)
        self.connection = connection
        return connection
    }

    private func disconnect() async {
        await connection?.close()
        connection = nil
    }

    /// Logs once in an outage that counts are dropped, and once that it is over.
    private func report(_ dropped: Int, _ error: (any Error)?) {
        if let error, dropped > 0, droppedInOutage == 0 {
            state.logger.warning(
                "Counts of checks are dropped, because the database cannot be written",
                metadata: ["counts.dropped": "\(dropped)", "error": "\(error)"]
            )
        } else if let error {
            state.logger.debug("Counts of checks cannot be written", metadata: ["error": "\(error)"])
        } else if droppedInOutage > 0 {
            state.logger.notice(
                "Counts of checks are written again", metadata: ["counts.dropped": "\(droppedInOutage)"]
            )
            droppedInOutage = 0
        }
        droppedInOutage += dropped
    }
}

/// Decides about counts that could not be written: they are kept for one more attempt, then dropped.
///
/// So a restart of the database loses no counts, and memory stays bounded during a long outage. A batch that may have been
/// written is never written again: a count that is too low does less harm than one that is too high.
struct CountBacklog: Sendable {
    enum Outcome: Sendable {
        case written
        case notWritten
        /// The connection was lost during the commit.
        case unknown
    }

    private var kept = CountBatch()
    private var fresh = CountBatch()

    mutating func nextBatch(adding counts: CountBatch) -> CountBatch {
        fresh = counts
        var batch = kept
        batch.append(fresh)
        return batch
    }

    /// Notes how writing the batch ended.
    ///
    /// - Parameter isLast: Whether there will be no other attempt.
    /// - Returns: How many checks are dropped.
    mutating func attemptEnded(_ outcome: Outcome, isLast: Bool) -> Int {
        defer { fresh = CountBatch() }
        switch outcome {
        case .written:
            kept = CountBatch()
            return 0
        case .notWritten where !isLast:
            let dropped = kept.totalChecks
            kept = fresh
            return dropped
        case .notWritten, .unknown:
            let dropped = kept.totalChecks + fresh.totalChecks
            kept = CountBatch()
            return dropped
        }
    }
}
