import Logging
import PolicyStore
import Postgres
import UpdatePolicy

/// Keeps the live policy at what the database holds.
///
/// A notification is only a hint that makes a reload quick; the revision row, read again and again, is the truth. So an
/// edit that is made while the connection is broken, or on a server that cannot notify, is not missed.
struct PolicyFollower: Sendable {
    let state: ServerState

    var reload = ReloadDecision()
    var answerTimeout = AdaptiveTimeout()
    /// A policy that is replaced is kept until the next wait is over, so that its last reference is not dropped, and its many
    /// objects are not freed, by a check on an event loop.
    var kept: CompiledPolicy?

    private var policy: LivePolicy { state.policy }
    private var clock: @Sendable () -> Timestamp { state.clock }
    private var logger: Logger { state.logger }
    private var trial: PolicyTrial? { state.trial }

    /// How long an attempt to connect takes at most, unless the address of the database says it.
    ///
    /// The system repeats a lost packet after one second, three and seven. A connection that is attempted anew each second or
    /// two is there a second after the network is, however long that was gone.
    private static let connectTimeout: Duration = .seconds(2)

    private enum Failure: String {
        case connecting = "The database cannot be reached"
        case connection = "The connection to the database broke"
        case loading = "The policy cannot be loaded"
        case compiling = "The newest policy cannot be used"
        case unedited = "The database holds no policy yet"
    }

    /// Follows the database until the task is cancelled.
    mutating func run() async {
        defer { policy.update { $0.followerDue = nil } }
        var generator = SystemRandomNumberGenerator()
        var backoff = ReconnectBackoff()
        while !Task.isCancelled {
            var (failure, begin) = (Failure.connecting, ContinuousClock.now)
            do {
                let connection = try await connect()
                backoff.reset()
                failure = .connection
                defer { begin = .now }
                do {
                    try await follow(connection)
                } catch {
                    await connection.close()
                    throw error
                }
            } catch {
                guard !Task.isCancelled else { return }
                failed(failure, Self.reason(error))
                policy.update { $0.databaseIsReachable = false }
            }
            takeStep(within: Self.connectingLimit)
            // An attempt that took long has waited already.
            try? await Task.sleep(until: begin + backoff.nextDelay(using: &generator), clock: .continuous)
        }
    }

    // MARK: Steps

    /// Before it connects, the follower asks where the database is. That may start a private one and migrate it, and name
    /// servers that do not answer take minutes.
    private static let connectingLimit: Duration = .seconds(600)

    /// Notes that a step begins, and how long it may take before the follower counts as stalled: at least twice as long as its
    /// own bounds allow.
    private func takeStep(within limit: Duration = .seconds(30)) {
        policy.update { $0.followerDue = .now + limit }
    }

    private func connect() async throws -> PostgresConnection {
        takeStep(within: Self.connectingLimit)
        var configuration = try await state.database()
        configuration.connectTimeout = Self.connectTimeout
        let connection = try await PostgresConnection.connect(configuration, logger: logger)
        let address = await connection.address
        policy.update { status in
            status.databaseIsReachable = true
            status.databaseAddress = address
        }
        logger.notice("Connected to the database")
        await warnOfFaults(connection)
        return connection
    }

    private mutating func follow(_ connection: PostgresConnection) async throws {
        var mode = NotificationMode.unknown
        kept = policy.current
        while true {
            let next = try await self.mode(after: mode, connection)
            if next != mode {
                logger.notice(
                    "Following the policy of the database", metadata: ["database.changes": "\(next.rawValue)"])
            }
            mode = next
            do {
                try await look(connection, mode)
            } catch {
                guard await connection.isHealthy else { throw error }
                try Task.checkCancellation()
                failed(.loading, Self.reason(error))
            }
            takeStep()
            _ = try await connection.notifications(waitingUpTo: mode.pollInterval)
            withExtendedLifetime(kept) {}
            kept = policy.current
        }
    }

    /// How changes are noticed from now on.
    ///
    /// A standby that is promoted keeps its connections, so that is decided again from time to time.
    private func mode(
        after mode: NotificationMode,
        _ connection: PostgresConnection
    ) async throws -> NotificationMode {
        let isStandby = await connection.isHotStandby ?? false
        guard mode == .unknown || mode == .noneOnStandby else { return mode }
        guard !isStandby else { return .noneOnStandby }
        takeStep()
        guard try await !connection.isPooled() else { return .noneThroughPooler }
        takeStep()
        do {
            try await connection.listen(PolicyReader.channel)
            return .notifications
        } catch let error as PostgresError where error.code == .server {
            logger.notice("The database refuses to notify", metadata: ["error": "\(error)"])
            return .refused
        }
    }

    /// Reads the version of the policy, and loads the policy if it is another one that is to be taken.
    private mutating func look(_ connection: PostgresConnection, _ mode: NotificationMode) async throws {
        takeStep()
        let version = try await readVersion(connection)
        let heldUntil = trial?.heldUntil(version.token)
        if let heldUntil { heldBack(version, until: heldUntil) }
        // A pooler might give the name of the session to others.
        if mode != .noneThroughPooler { await announce(connection) }
        guard heldUntil == nil else { return }
        let seenAt = clock()
        let answering = earlierPolicy
        var isPrimary: Bool?
        while true {
            switch reload.verdict(on: version, inPlaceOf: answering, at: seenAt, isPrimary: isPrimary) {
            case .upToDate:
                return policy.update { status in
                    status.failure = nil
                    status.source = .database
                }
            case .wait:
                if let time = reload.takesUnedited(version) { unedited(takenAt: time) }
                return
            case .mustKnowPrimary:
                takeStep()
                isPrimary = try await !connection.withSession { try PolicyReader.isStandby($0) }
            case .load:
                // The statements of a load have a bound each.
                takeStep(within: .seconds(120))
                try await load(connection)
                if mode != .noneThroughPooler { await announce(connection) }
                return
            }
        }
    }

    private mutating func readVersion(_ connection: PostgresConnection) async throws -> PolicyVersion {
        let begin = ContinuousClock.now
        do {
            let (version, databaseClock) = try await connection.withSession(waitingUpTo: answerTimeout.limit) {
                [clock] session in try PolicyReader.versionAndClock(session, machine: clock)
            }
            answerTimeout.answered(after: .now - begin)
            polled(databaseClock)
            return version
        } catch let error as PostgresError where error.code == .timeout {
            answerTimeout.ranOut()
            throw error
        }
    }

    /// Reads the policy, compiles it, and puts it in the place of the one that answers.
    private mutating func load(_ connection: PostgresConnection) async throws {
        let start = ContinuousClock.now
        let reading = try await read(connection)
        var replaced: PolicyVersion?
        if reading.isWhole { replaced = try await replacedPolicy(by: reading.version, connection) }
        let compiled: CompiledPolicy
        trial?.begin(reading.version)
        do {
            compiled = try await LowPriorityThread.run(reading.compile)
        } catch {
            trial?.abandon(reading.version)
            reload.rejected(reading.version)
            return failed(.compiling, "\(error)", rejecting: reading.version.revision)
        }
        policy.replace(with: compiled, at: clock(), after: ContinuousClock.now - start)
        trial?.taken(reading.version, at: .now, answered: state.statistics.answeredRequests)
        reload.loaded(reading.version)
        if let replaced {
            logger.warning(
                "The policy of the database does not continue the one before, and is in its place now",
                metadata: ["policy.replaced": "\(replaced.revision)", "policy.revision": "\(compiled.revision)"]
            )
        }
        logger.notice(
            "Loaded the policy",
            metadata: [
                "policy.revision": "\(compiled.revision)", "policy.apps": "\(compiled.appCount)",
                "policy.rules": "\(compiled.ruleCount)", "policy.read": "\(reading.amount)",
            ]
        )
        if compiled.hasFuses, state.counting == nil {
            logger.warning("No fuse blows by what this server answers: with --count-interval 0 it counts no checks")
        }
    }

    /// Names the revision that answers in the session, for `versiongate status`.
    private func announce(_ connection: PostgresConnection) async {
        guard let current = policy.current else { return }
        let status = policy.status
        // A connection that is lost here is noticed by what comes next.
        let session = ServerSession.Description(
            revision: current.revision,
            address: status.serverName,
            databaseClockOffset: status.databaseClockOffset ?? 0,
            faults: (state.tls?.fault == nil ? [] : [.certificate]) + (status.fileFault == nil ? [] : [.disk])
                + (status.brake == nil ? [] : [.brake]) + (state.lockoutKey?.fault == nil ? [] : [.key])
                + (status.isHoldingBack ? [.revision] : [])
                + (current.hasFuses && state.counting == nil ? [.counts] : [])
        )
        try? await session.make(over: connection)
    }

    /// The version that answers until the database gives a policy: that of the file, also before the file is read.
    private var earlierPolicy: PolicyVersion? {
        if let current = policy.current { return current.version }
        guard !policy.status.isFirstLoadTried, case .policy(let version) = state.file?.occupant else { return nil }
        return version
    }

    /// The last good policy, if the new one does not continue it.
    private func replacedPolicy(
        by next: PolicyVersion,
        _ connection: PostgresConnection
    ) async throws -> PolicyVersion? {
        var before = policy.current?.version
        if case .policy(let version) = state.file?.occupant { before = version }
        guard let before, before.revision > 0, before.token != next.token else { return nil }
        guard before.revision < next.revision else { return before }
        do {
            return try await connection.withSession { try PolicyReader.isInHistory(before, $0) } ? nil : before
        } catch let error as PostgresError where error.code == .server {
            // An older schema, or a role that may not ask, keeps no policy from being loaded.
            logger.debug("The database does not say whether its policy continues", metadata: ["error": "\(error)"])
            return nil
        }
    }

    /// Reads what changed since the policy in memory, or everything where the history does not show it.
    private func read(_ connection: PostgresConnection) async throws -> PolicyReading {
        if let current = policy.current,
            let update = try await PolicyReader.update(connection, since: current.version)
        {
            let amount = "\(update.bundles.count) apps"
            return PolicyReading(rows: update.policy, isWhole: false, amount: amount) {
                try current.updated(with: update)
            }
        }
        let rows = try await PolicyReader.policy(connection)
        return PolicyReading(rows: rows, isWhole: true, amount: "everything") { try CompiledPolicy(rows) }
    }

    // MARK: What is told

    /// What went wrong, and who knows more where rights are missing.
    private static func reason(_ error: any Error) -> String {
        (error as? PostgresError)?.sqlState == .insufficientPrivilege
            ? "\(error); `\(PrintedCommand("migrate --status"))` names the rights that the role lacks" : "\(error)"
    }

    /// Notes what went wrong, and logs it once for as long as it stays the same.
    private func failed(_ failure: Failure, _ reason: String, rejecting rejected: Int64? = nil) {
        let level: Logger.Level = policy.status.failure?.reason == reason ? .debug : .warning
        let answer =
            policy.current.map { "the policy of revision \($0.revision)" } ?? "no messages, as there is no policy"
        logger.log(
            level: level, "\(failure.rawValue)", metadata: ["error": "\(reason)", "checks.answer": "\(answer)"]
        )
        policy.update { $0.fail(reason, rejecting: rejected, at: clock()) }
    }

    private func unedited(takenAt time: Timestamp) {
        let reason =
            "nothing was ever edited in this database, which is at revision 0: a dump is being restored, or it is not"
            + " the database that is meant; with the next edit in it, or at \(time), its policy is taken"
        // It stays so for a while, and fails once.
        if policy.status.failure?.reason != reason { failed(.unedited, reason) }
    }

    /// Notes that a policy is not taken because servers died of it, and says once what ends that.
    private func heldBack(_ version: PolicyVersion, until end: Timestamp) {
        let reason =
            "servers with this state folder ended twice within 10 minutes while they began to answer by revision"
            + " \(version.revision), so it is held back, and the policy before it answers with its lockouts as plain"
            + " messages; that ends by itself at \(end), or with the next edit: if somebody killed the servers, any edit"
            + " will do, else change what ends them"
        policy.update { $0.heldBack = version }
        guard policy.status.failure?.reason != reason else { return }
        logger.critical(
            "A revision that ends servers is held back",
            metadata: ["policy.revision": "\(version.revision)", "reason": "\(reason)"]
        )
        policy.update { $0.fail(reason, at: clock()) }
    }

    /// Warns of what is wrong in the database, which is no reason to answer nothing.
    private func warnOfFaults(_ connection: PostgresConnection) async {
        let faults = try? await connection.transaction(.repeatableReadReadOnly) { try SchemaFault.all($0) }
        for fault in faults ?? [] where fault.isDangerous || fault.stopsServers {
            logger.warning(
                fault.isDangerous
                    ? "The rights in the database are not safe" : "This database cannot be followed",
                metadata: ["fault": "\(fault.fault)", "remedy": "\(fault.remedy)"]
            )
        }
    }

    /// Notes that the database answered, and says once that its clock is off.
    private func polled(_ databaseClock: DatabaseClock) {
        func isOff(_ offset: Double?) -> Bool { offset.map { abs($0) > DatabaseClock.tolerance } ?? false }
        let wasOff = policy.update { status in
            defer {
                status.lastPolledAt = clock()
                status.databaseClockOffset = databaseClock.offset
            }
            return isOff(status.databaseClockOffset)
        }
        guard !wasOff, isOff(databaseClock.offset) else { return }
        logger.warning(
            "The clocks of this machine and the database differ; checks go by this one, edits by that one",
            metadata: ["database.clock.offset": "\(Int(databaseClock.offset.rounded())) s"]
        )
    }
}

/// The rows that were read from the database, and how they make the next policy.
private struct PolicyReading: Sendable {
    let rows: Policy
    /// Whether the rows are all, and not those of what differs from the policy in memory.
    let isWhole: Bool
    /// How much was read, in words for the log.
    let amount: String
    let compile: @Sendable () throws -> CompiledPolicy

    var version: PolicyVersion { PolicyVersion(revision: rows.revision, token: rows.token) }
}
