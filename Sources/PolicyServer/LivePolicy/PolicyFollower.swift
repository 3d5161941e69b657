// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

public import Logging
import PolicyStore
public import Postgres
public import ServiceLifecycle
public import UpdatePolicy

/// Keeps the live policy at what the database holds.
///
/// A notification is only a hint that makes a reload quick; the revision row, read again and again, is the truth. So an
/// edit that is made while the connection is broken, or on a server that cannot notify, is not missed.
public struct PolicyFollower: Service {
    private let database: @Sendable () async throws -> PostgresConfiguration
    private let policy: LivePolicy
    private let clock: @Sendable () -> Timestamp
    private let logger: Logger
    /// Where an earlier run kept its policy, and this one keeps its own; nil: nowhere.
    var file: LastGoodPolicyFile?

    /// The channel on which the database tells its new revisions.
    private static let channel = "versiongate"
    /// How connections are attempted, so that one is there soon after the network is.
    private static let attempts = OverlappingAttempts(interval: .seconds(1), limit: 10)

    /// How long each kind of step may take before the follower is taken to stand still: twice as long as its own bounds
    /// allow, and longer.
    private enum Step {
        /// Asking where the database is, which may start a private one and migrate it, and connecting, for which name
        /// servers that do not answer take minutes.
        static let connection: Duration = .seconds(600)
        /// Reading a policy, whose statements have a bound each, and compiling it.
        static let load: Duration = .seconds(120)
        /// Anything else: a question, waiting for a notification.
        static let other: Duration = .seconds(30)
    }

    /// Creates a follower.
    ///
    /// - Parameters:
    ///   - database: Where the database is, asked before each connection; may bring the database up.
    ///   - policy: What is kept up to date.
    ///   - clock: The time that reloads are dated with.
    ///   - logger: Where changes of state are logged.
    public init(
        database: @escaping @Sendable () async throws -> PostgresConfiguration,
        policy: LivePolicy,
        clock: @escaping @Sendable () -> Timestamp,
        logger: Logger
    ) {
        self.database = database
        self.policy = policy
        self.clock = clock
        self.logger = logger
    }

    /// Follows the database until graceful shutdown.
    public func run() async throws {
        defer { policy.noteFollowerStep(nextDue: nil) }
        await cancelWhenGracefulShutdown {
            var generator = SystemRandomNumberGenerator()
            var backoff = ReconnectBackoff()
            var state = State()
            while !Task.isCancelled {
                do {
                    let connection = try await connect()
                    backoff.reset()
                    policy.noteDatabase(isReachable: true)
                    logger.notice("Connected to the database")
                    await warnOfDangers(connection)
                    state = await follow(connection, state)
                    await connection.close()
                } catch {
                    reportUnreachable(error)
                }
                guard !Task.isCancelled else { break }
                policy.noteDatabase(isReachable: false)
                try? await Task.sleep(for: backoff.nextDelay(using: &generator))
            }
        }
    }

    /// What is known beyond one connection.
    private struct State {
        var reload = ReloadDecision()
        var patience = AnswerPatience()
    }

    /// Notes that the follower goes on, with something that may take so long.
    private func step(atMost limit: Duration = Step.other) {
        policy.noteFollowerStep(nextDue: .now + limit)
    }

    private func connect() async throws -> PostgresConnection {
        step(atMost: Step.connection)
        let configuration = try await database()
        return try await Self.attempts.firstSuccess(
            of: { try await PostgresConnection.connect(configuration, logger: logger) },
            onFailure: { reportUnreachable($0) }
        )
    }

    /// Warns where somebody can act as the owner of the schema, which is no reason to answer nothing.
    private func warnOfDangers(_ connection: PostgresConnection) async {
        let faults = try? await connection.transaction(.repeatableReadReadOnly) { try SchemaFault.all($0) }
        for fault in faults ?? [] where fault.isDangerous {
            logger.warning(
                "The rights in the database are not safe",
                metadata: ["fault": "\(fault.fault)", "remedy": "\(fault.remedy)"]
            )
        }
    }

    /// Follows one connection until it breaks or the task is cancelled.
    private func follow(_ connection: PostgresConnection, _ state: State) async -> State {
        var state = state
        var hints = ChangeHints.unknown
        do {
            while !Task.isCancelled {
                // The policy that was replaced is kept until here, so that its last reference is not dropped, and its
                // many objects are not freed, by a check on an event loop.
                let replaced = policy.current
                step()
                hints = try await self.hints(from: connection, before: hints)
                try await loadIfNew(connection, &state)
                step()
                _ = try await connection.notifications(waitingUpTo: hints.pollInterval)
                withExtendedLifetime(replaced) {}
            }
        } catch {
            if !Task.isCancelled {
                report(error, "The connection to the database broke")
            }
        }
        return state
    }

    /// Asks for notifications where they can come and have not been asked for, and says where they cannot.
    ///
    /// A standby that is promoted keeps its connections, so this is judged again and again.
    private func hints(from connection: PostgresConnection, before: ChangeHints) async throws -> ChangeHints {
        let isStandby = await connection.isHotStandby ?? false
        switch before {
        case .notifications, .noneThroughPooler, .refused: return before
        case .noneOnStandby where isStandby: return before
        case .unknown, .noneOnStandby: break
        }
        let now: ChangeHints
        if isStandby {
            now = .noneOnStandby
        } else if try await connection.isPooled() {
            now = .noneThroughPooler
        } else {
            do {
                try await connection.listen(Self.channel)
                now = .notifications
            } catch let error as PostgresError where error.code == .server {
                logger.notice("The database refuses to notify", metadata: ["error": "\(error)"])
                now = .refused
            }
        }
        logger.notice("Following the policy of the database", metadata: ["database.changes": "\(now.description)"])
        return now
    }

    /// Loads the policy if the database has another one.
    ///
    /// - Throws: an error of the connection. Anything else is reported, and the policy in memory stays.
    private func loadIfNew(_ connection: PostgresConnection, _ state: inout State) async throws {
        do {
            let version = try await version(connection, &state.patience)
            policy.notePoll(at: clock())
            let isNew = try await state.reload.shouldLoad(version, inPlaceOf: earlierPolicy, at: clock()) {
                try await !connection.withSession { try PolicyReader.isStandby($0) }
            }
            guard isNew else {
                if let time = state.reload.takesUnedited(version) {
                    reportOnce(UneditedDatabaseError(isTakenAt: time))
                } else if policy.current?.token == version.token {
                    policy.noteUpToDate()
                }
                return
            }
            step(atMost: Step.load)
            let start = ContinuousClock.now
            let reading = try await read(connection)
            let replaced = try await replacedPolicy(by: reading, connection)
            do {
                let compiled = try await reading.compile()
                policy.replace(with: compiled, insteadOf: replaced, at: clock(), after: ContinuousClock.now - start)
                state.reload.loaded(reading.version)
                if let replaced {
                    logger.warning(
                        "The policy of the database does not continue the one before, and is in its place now",
                        metadata: [
                            "policy.replaced": "\(replaced.revision)", "policy.revision": "\(compiled.revision)",
                        ]
                    )
                }
                logger.notice(
                    "Loaded the policy",
                    metadata: [
                        "policy.revision": "\(compiled.revision)", "policy.apps": "\(compiled.appCount)",
                        "policy.rules": "\(compiled.ruleCount)", "policy.read": "\(reading.extent)",
                    ]
                )
            } catch {
                state.reload.rejected(reading.version)
                report(error, "The newest policy cannot be used")
            }
        } catch {
            guard await connection.isHealthy, !Task.isCancelled else { throw error }
            report(error, "The policy cannot be loaded")
        }
    }

    /// What answers until the database gives a policy: that of the file, also before it is read at the start.
    private var earlierPolicy: PolicyVersion? {
        if let current = policy.current { return current.version }
        guard !policy.isFirstLoadTried, case .policy(let version) = file?.occupant else { return nil }
        return version
    }

    /// The last good policy, if the one that was read comes from a history that does not have it, or stands before it.
    private func replacedPolicy(
        by reading: PolicyReading,
        _ connection: PostgresConnection
    ) async throws -> PolicyVersion? {
        guard case .whole = reading else { return nil }
        var before = policy.current?.version
        if case .policy(let version) = file?.occupant { before = version }
        guard let before, before.revision > 0, before.token != reading.version.token else { return nil }
        guard before.revision < reading.version.revision else { return before }
        do {
            let isContinued = try await connection.withSession { try PolicyReader.isInHistory(before, $0) }
            return isContinued ? nil : before
        } catch let error as PostgresError where error.code == .server {
            // An older schema, or a role that may not ask, keeps no policy from being loaded.
            logger.debug("The database does not say whether its policy continues", metadata: ["error": "\(error)"])
            return nil
        }
    }

    /// Asks for the revision, which also shows whether the connection still works.
    private func version(
        _ connection: PostgresConnection,
        _ patience: inout AnswerPatience
    ) async throws -> PolicyVersion {
        let begin = ContinuousClock.now
        do {
            let version = try await connection.withSession(waitingUpTo: patience.limit) { try PolicyReader.version($0) }
            patience.answered(after: .now - begin)
            return version
        } catch let error as PostgresError where error.code == .timeout {
            patience.ranOut()
            throw error
        }
    }

    private func reportUnreachable(_ error: any Error) {
        guard !Task.isCancelled else { return }
        step(atMost: Step.connection)
        report(error, "The database cannot be reached")
    }

    /// Notes and logs what stays as it is for a while, when it begins.
    private func reportOnce(_ error: any Error) {
        guard policy.status.failure?.reason != "\(error)" else { return }
        report(error, "The database holds no policy yet")
    }

    /// Notes what went wrong, and logs it once for as long as it stays the same.
    private func report(_ error: any Error, _ message: Logger.Message) {
        let reason = "\(error)"
        let level: Logger.Level = policy.status.failure?.reason == reason ? .debug : .warning
        let answer =
            policy.current.map { "the policy of revision \($0.revision)" } ?? "no messages, as there is no policy"
        logger.log(level: level, message, metadata: ["error": "\(reason)", "checks.answer": "\(answer)"])
        policy.noteFailure(reason, at: clock())
    }

    /// Reads what changed since the policy in memory, or everything where the history does not tell.
    private func read(_ connection: PostgresConnection) async throws -> PolicyReading {
        if let current = policy.current {
            let known = PolicyVersion(revision: current.revision, token: current.token)
            if let update = try await PolicyReader.update(connection, since: known) {
                return .update(update, of: current)
            }
        }
        return .whole(try await PolicyReader.policy(connection))
    }
}
