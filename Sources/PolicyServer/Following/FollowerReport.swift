import Logging
import PolicyStore
import Postgres
import UpdatePolicy

/// Records how the follower fares in the status of the live policy, and words it for the log.
struct FollowerReport {
    let policy: LivePolicy
    let clock: @Sendable () -> Timestamp
    let logger: Logger

    func take(_ note: FollowerState.Note, _ connection: PostgresConnection?) async {
        switch note {
        case .connected:
            policy.noteDatabase(address: await connection?.address)
            logger.notice("Connected to the database")
            if let connection { await warnOfFaults(connection) }
        case .disconnected: policy.noteDatabaseAway()
        case .following(let mode):
            logger.notice("Following the policy of the database", metadata: ["database.changes": "\(mode.description)"])
        case .notificationsRefused(let reason):
            logger.notice("The database refuses to notify", metadata: ["error": "\(reason)"])
        case .upToDate: policy.noteUpToDate()
        case .heldBack(let version, let end): heldBack(version, until: end)
        case .unedited(let time):
            let reason =
                "nothing was ever edited in this database, which is at revision 0: a dump is being restored, or it is not"
                + " the database that is meant; with the next edit in it, or at \(time), its policy is taken"
            // It stays so for a while, and fails once.
            guard policy.status.failure?.reason != reason else { return }
            failed("The database holds no policy yet", reason, rejecting: nil)
        case .failure(let failure, let reason, let rejected):
            failed(failure, reason, rejecting: rejected)
        }
    }

    func failed(_ failure: FollowerState.Failure, _ reason: String, rejecting rejected: Int64? = nil) {
        failed("\(failure.rawValue)", reason, rejecting: rejected)
    }

    /// Notes what went wrong, and logs it once for as long as it stays the same.
    private func failed(_ message: Logger.Message, _ reason: String, rejecting rejected: Int64?) {
        let level: Logger.Level = policy.status.failure?.reason == reason ? .debug : .warning
        let answer =
            policy.current.map { "the policy of revision \($0.revision)" } ?? "no messages, as there is no policy"
        logger.log(level: level, message, metadata: ["error": "\(reason)", "checks.answer": "\(answer)"])
        policy.noteFailure(reason, rejecting: rejected, at: clock())
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

    func polled(_ databaseClock: DatabaseClock) {
        guard policy.notePoll(at: clock(), databaseClockOffset: databaseClock.offset) else { return }
        logger.warning(
            "The clocks of this machine and the database differ; checks go by this one, edits by that one",
            metadata: ["database.clock.offset": "\(Int(databaseClock.offset.rounded())) s"]
        )
    }

    /// Notes that a policy is not taken because servers died of it, and says once what ends that.
    private func heldBack(_ version: PolicyVersion, until end: Timestamp) {
        let reason =
            "servers with this state folder ended twice within 10 minutes while they began to answer by revision"
            + " \(version.revision), so it is held back, and the policy before it answers with its lockouts as plain"
            + " messages; that ends by itself at \(end), or with the next edit: if somebody killed the servers, any edit"
            + " will do, else change what ends them"
        policy.noteHeldBack(version)
        guard policy.status.failure?.reason != reason else { return }
        logger.critical(
            "A revision that ends servers is held back",
            metadata: ["policy.revision": "\(version.revision)", "reason": "\(reason)"]
        )
        policy.noteFailure(reason, at: clock())
    }

    func loaded(_ compiled: CompiledPolicy, _ amount: String, insteadOf replaced: PolicyVersion?) {
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
                "policy.rules": "\(compiled.ruleCount)", "policy.read": "\(amount)",
            ]
        )
    }
}
