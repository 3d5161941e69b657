import CheckListener
import Logging
import PolicyStore
import Postgres
import Synchronization
import UpdatePolicy

/// Records the releases that pipelines send, one after the other, over a connection of its own.
///
/// Each has a turn of a tenth of a second or longer. So there are at most ten a second, and whatever is wrong with a token
/// takes as long.
actor ReleaseRecording {
    private struct Order: Sendable {
        let release: SentRelease
        /// When its sender is told that it is late.
        let deadline: ContinuousClock.Instant
        let deliver: @Sendable (SentRelease.Answer) -> Void
    }

    /// The most releases that wait.
    static let maximumWaiting = 32

    private let state: ServerState
    private let turn: Duration
    private let limit: Duration
    private nonisolated let patience: Duration
    private let orders: AsyncStream<Order>
    private nonisolated let queue: AsyncStream<Order>.Continuation
    private let warnings = Warnings()
    private var connection: PostgresConnection?
    private var isFailing = false

    /// - Parameters:
    ///   - turn: The least time between two releases.
    ///   - limit: How long recording one may take, connecting included.
    ///   - patience: How long one may wait for its turn.
    init(
        _ state: ServerState,
        turn: Duration = .milliseconds(100),
        limit: Duration = .seconds(5),
        patience: Duration = SentRelease.timeout
    ) {
        (self.state, self.turn, self.limit, self.patience) = (state, turn, limit, patience)
        (orders, queue) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(Self.maximumWaiting))
    }

    /// What the listener hands releases to.
    nonisolated var recorder: SentRelease.Recorder {
        { [queue, patience] release, deliver in
            let order = Order(release: release, deadline: .now + patience, deliver: deliver)
            return if case .enqueued = queue.yield(order) { true } else { false }
        }
    }

    /// Records what is sent until the task is cancelled.
    func run() async {
        for await order in orders where order.deadline > .now {
            let end = ContinuousClock.now + turn
            let answer = await answer(to: order.release)
            try? await Task.sleep(until: end)
            order.deliver(answer)
        }
        await disconnect()
    }

    private func answer(to release: SentRelease) async -> SentRelease.Answer {
        guard let token = release.token, ReleaseTokens.isToken(token) else { return .unauthorized }
        guard let text = String(validating: release.body, as: UTF8.self) else {
            return .unreadable("The body is not UTF-8; send one JSON object.")
        }
        do {
            let recorded = try await withTimeLimit(limit) { try await self.record(text, token) }
            isFailing = false
            guard let recorded else { return .unauthorized }
            return .recorded(document: document(of: recorded), isNew: recorded.outcome == .added)
        } catch ReleaseFault.unreadable(let fault) {
            return .unreadable(fault)
        } catch ReleaseFault.conflict(let fault) {
            return .conflict(fault)
        } catch ReleaseFault.refused(let fault) {
            return .refused(fault)
        } catch {
            state.logger.log(
                level: isFailing ? .debug : .warning, "A release that was sent cannot be recorded",
                metadata: ["error": "\(error)"]
            )
            isFailing = true
            await disconnect()
            return .unavailable
        }
    }

    private func record(_ release: String, _ token: String) async throws -> RecordedRelease? {
        let connection = try await connected()
        _ = warnings.take()
        return try await connection.transaction { [limit] session in
            try session.setTimeouts(statement: "\(limit.components.seconds)s")
            return try ReleaseTokens.record(release, token: token, session)
        }
    }

    private func document(of recorded: RecordedRelease) -> String {
        if recorded.outcome != .unchanged {
            state.logger.notice(
                "A release was recorded",
                metadata: [
                    "outcome": "\(recorded.outcome)", "revision": "\(recorded.revision)", "token": "\(recorded.token)",
                ]
            )
        }
        let warnings = JSONValue.array(warnings.take().map { .string($0) }).text
        return #"{"release":\#(recorded.release),"revision":\#(recorded.revision),"warnings":\#(warnings)}"#
    }

    private func connected() async throws -> PostgresConnection {
        if let connection, await connection.isHealthy { return connection }
        let connection = try await PostgresConnection.connect(
            try await state.primary(), logger: state.logger, onNotice: { [warnings] in warnings.add($0) }
        )
        self.connection = connection
        return connection
    }

    private func disconnect() async {
        await connection?.close()
        connection = nil
    }
}

/// What the database warns of while a release is recorded.
private final class Warnings: Sendable {
    private let texts = Mutex<[String]>([])

    func add(_ notice: PostgresNotice) {
        if notice.isWarning { texts.withLock { $0.append(notice.message) } }
    }

    func take() -> [String] {
        texts.withLock { texts in
            defer { texts = [] }
            return texts
        }
    }
}
