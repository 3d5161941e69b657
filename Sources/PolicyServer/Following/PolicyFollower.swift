import Glibc
import Logging
import PolicyStore
import Postgres
import ServiceLifecycle
import UpdatePolicy

/// Keeps the live policy at what the database holds: performs the operations of ``FollowerState``.
///
/// A notification is only a hint that makes a reload quick; the revision row, read again and again, is the truth. So an
/// edit that is made while the connection is broken, or on a server that cannot notify, is not missed.
struct PolicyFollower: Service {
    /// Where the database is, asked before each connection; may bring the database up.
    let database: @Sendable () async throws -> PostgresConfiguration
    let policy: LivePolicy
    let clock: @Sendable () -> Timestamp
    let logger: Logger
    /// Where an earlier run kept its policy, and this one keeps its own; nil: nowhere.
    var file: LastGoodPolicyFile?
    /// Knows where checks are asked; nil: nowhere.
    var serving: ServingState?
    var tls: ReloadedCertificate?
    var lockoutKey: ReloadedLockoutKey?
    /// Notes which policy is taken, in case that the server dies of it; nil: nothing does.
    var trial: PolicyTrial?
    /// Whether checks are counted, without which no fuse blows.
    var countsChecks = true
    /// How many requests were answered so far.
    var answered: @Sendable () -> Int = { 0 }

    /// How connections are attempted, so that one is there soon after the network is.
    private static let attempts = HedgedAttempts(interval: .seconds(1), limit: 10)

    /// Follows the database until graceful shutdown.
    func run() async throws {
        defer { policy.noteFollowerStep(nextDue: nil) }
        await cancelWhenGracefulShutdown {
            var generator = SystemRandomNumberGenerator()
            var state = FollowerState()
            var connection: PostgresConnection?
            // A policy that is replaced is kept until the next wait is over, so that its last reference is not dropped, and
            // its many objects are not freed, by a check on an event loop.
            var kept = policy.current
            while !Task.isCancelled {
                let event: FollowerState.Event
                do {
                    event = try await perform(state.operation, on: &connection)
                } catch {
                    guard !Task.isCancelled else { break }
                    event = .failed(
                        reason: Self.reason(error), isConnectionUsable: await connection?.isHealthy ?? false,
                        isTimeout: (error as? PostgresError)?.code == .timeout
                    )
                }
                switch event {
                case .connected, .waited:
                    withExtendedLifetime(kept) {}
                    kept = policy.current
                default:
                    break
                }
                for note in state.handle(event, at: clock(), using: &generator) { await report.take(note, connection) }
                if let connection, state.mode != .noneThroughPooler { await announce(after: event, over: connection) }
            }
            withExtendedLifetime(kept) {}
            await connection?.close()
        }
    }

    private var report: FollowerReport { FollowerReport(policy: policy, clock: clock, logger: logger) }

    /// What went wrong, and who knows more where rights are missing.
    private static func reason(_ error: any Error) -> String {
        (error as? PostgresError)?.sqlState == .insufficientPrivilege
            ? "\(error); `\(PrintedCommand("migrate --status"))` names the rights that the role lacks" : "\(error)"
    }

    private func perform(
        _ operation: FollowerState.Operation,
        on current: inout PostgresConnection?
    ) async throws -> FollowerState.Event {
        policy.noteFollowerStep(nextDue: .now + operation.timeLimit)
        if case .connect(let delay) = operation {
            await current?.close()
            current = nil
            try await Task.sleep(for: delay)
            let connection = try await connect()
            current = connection
            return .connected(isStandby: await connection.isHotStandby ?? false)
        }
        guard let connection = current else { throw PostgresError(.closed, "there is no connection") }
        switch operation {
        case .connect: preconditionFailure("it is performed above")
        case .detectPooler:
            return .pooler(isPresent: try await connection.isPooled())
        case .listen:
            do {
                try await connection.listen(PolicyReader.channel)
                return .listening
            } catch let error as PostgresError where error.code == .server {
                return .listenRefused("\(error)")
            }
        case .readVersion(let limit):
            let begin = ContinuousClock.now
            let (version, databaseClock) = try await connection.withSession(waitingUpTo: limit) { [clock] session in
                try PolicyReader.versionAndClock(session, machine: clock)
            }
            let duration = ContinuousClock.now - begin
            report.polled(databaseClock)
            if let end = trial?.heldUntil(version.token) { return .heldBack(version, until: end, after: duration) }
            return .version(version, answering: earlierPolicy, after: duration)
        case .detectPrimary:
            return .primary(try await !connection.withSession { try PolicyReader.isStandby($0) })
        case .load:
            return try await load(connection)
        case .wait(let limit):
            _ = try await connection.notifications(waitingUpTo: limit)
            return .waited(isStandby: await connection.isHotStandby ?? false)
        }
    }

    private func connect() async throws -> PostgresConnection {
        let configuration = try await database()
        return try await Self.attempts.firstSuccess(
            of: { try await PostgresConnection.connect(configuration, logger: logger) },
            onFailure: { error in
                guard !Task.isCancelled else { return }
                policy.noteFollowerStep(nextDue: .now + FollowerState.Operation.connect(after: .zero).timeLimit)
                report.failed(.connecting, "\(error)")
            }
        )
    }

    /// Reads the policy, compiles it, and puts it in the place of the one that answers.
    private func load(_ connection: PostgresConnection) async throws -> FollowerState.Event {
        let start = ContinuousClock.now
        let reading = try await read(connection)
        var replaced: PolicyVersion?
        if case .whole = reading { replaced = try await replacedPolicy(by: reading.version, connection) }
        let compiled: CompiledPolicy
        trial?.begin(reading.version)
        do {
            compiled = try await reading.compile()
        } catch {
            trial?.abandon(reading.version)
            return .rejected(reading.version, reason: "\(error)")
        }
        policy.replace(with: compiled, insteadOf: replaced, at: clock(), after: ContinuousClock.now - start)
        trial?.taken(reading.version, at: .now, answered: answered())
        report.loaded(compiled, reading.amount, insteadOf: replaced)
        if compiled.hasFuses, !countsChecks {
            logger.warning("No fuse blows by what this server answers: with --count-interval 0 it counts no checks")
        }
        return .loaded(reading.version)
    }

    /// Names the revision that answers in the session, for `versiongate status`; a pooler might give the name to others.
    private func announce(after event: FollowerState.Event, over connection: PostgresConnection) async {
        switch event {
        case .version, .heldBack, .loaded:
            guard let current = policy.current else { return }
            let status = policy.status
            // A connection that is lost here is noticed by what comes next.
            let session = ServerSession.Description(
                revision: current.revision,
                address: ServingState.name(serving),
                databaseClockOffset: status.databaseClockOffset ?? 0,
                faults: (tls?.fault == nil ? [] : [.certificate]) + (status.fileFault == nil ? [] : [.disk])
                    + (status.brake == nil ? [] : [.brake]) + (lockoutKey?.fault == nil ? [] : [.key])
                    + (status.isHoldingBack ? [.revision] : []) + (current.hasFuses && !countsChecks ? [.counts] : [])
            )
            try? await session.make(over: connection)
        default:
            break
        }
    }

    /// The version that answers until the database gives a policy: that of the file, also before the file is read.
    private var earlierPolicy: PolicyVersion? {
        if let current = policy.current { return current.version }
        guard !policy.isFirstLoadTried, case .policy(let version) = file?.occupant else { return nil }
        return version
    }

    /// The last good policy, if the new one does not continue it.
    private func replacedPolicy(
        by next: PolicyVersion,
        _ connection: PostgresConnection
    ) async throws -> PolicyVersion? {
        var before = policy.current?.version
        if case .policy(let version) = file?.occupant { before = version }
        guard let before else { return nil }
        switch before.succession(of: next) {
        case .continues: return nil
        case .breaks: return before
        case .historyKnows:
            do {
                return try await connection.withSession { try PolicyReader.isInHistory(before, $0) } ? nil : before
            } catch let error as PostgresError where error.code == .server {
                // An older schema, or a role that may not ask, keeps no policy from being loaded.
                logger.debug("The database does not say whether its policy continues", metadata: ["error": "\(error)"])
                return nil
            }
        }
    }

    /// Reads what changed since the policy in memory, or everything where the history does not show it.
    private func read(_ connection: PostgresConnection) async throws -> PolicyReading {
        if let current = policy.current,
            let update = try await PolicyReader.update(connection, since: current.version)
        {
            return .update(update, of: current)
        }
        return .whole(try await PolicyReader.policy(connection))
    }
}

/// The rows that were read from the database to make the next policy.
private enum PolicyReading: Sendable {
    case whole(Policy)
    /// The rows of what differs from the policy in memory.
    case update(PolicyUpdate, of: CompiledPolicy)

    var version: PolicyVersion {
        let policy =
            switch self {
            case .whole(let policy): policy
            case .update(let update, _): update.policy
            }
        return PolicyVersion(revision: policy.revision, token: policy.token)
    }

    /// How much was read, in words for the log.
    var amount: String {
        switch self {
        case .whole: "everything"
        case .update(let update, _): "\(update.bundles.count) apps"
        }
    }

    /// Compiles the policy at a lower priority than checks.
    func compile() async throws -> CompiledPolicy {
        try await LowPriorityThread.run {
            switch self {
            case .whole(let policy): try CompiledPolicy(policy)
            case .update(let update, let policy): try policy.updated(with: update)
            }
        }
    }
}
