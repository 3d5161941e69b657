import CheckListener
import PolicyStore
import Synchronization
import UpdatePolicy

/// The policy that answers now, and the status of its loading.
final class LivePolicy: Sendable {
    /// What the listener answers from.
    let answering = CurrentPolicy()
    private let loading: Mutex<PolicyStatus>
    private let databaseAttempt = Latch()
    private let firstAttempt = Latch()

    /// An event for each policy loaded from the database; buffers one event.
    let loadedFromDatabase: AsyncStream<Void>
    private let loaded: AsyncStream<Void>.Continuation

    /// Creates a live policy that has none yet and answers no messages.
    init() {
        loading = Mutex(PolicyStatus())
        (loadedFromDatabase, loaded) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// The policy that answers, nil before the first one is loaded.
    var current: CompiledPolicy? {
        answering.value
    }

    /// The status that the management listener shows.
    var status: PolicyStatus {
        loading.withLock { $0 }
    }

    /// Makes a policy from the database the one that answers.
    ///
    /// - Parameters:
    ///   - replaced: The last good policy, if this one does not continue it.
    ///   - duration: How long loading it took.
    func replace(
        with policy: CompiledPolicy,
        insteadOf replaced: PolicyVersion? = nil,
        at now: Timestamp,
        after duration: Duration = .zero
    ) {
        loading.withLock { status in
            status.standsInUntil = nil
            answering.replace(with: policy, sendingLockouts: status.sendsLockouts)
            if let replaced {
                status.replacement = PolicyStatus.Replacement(before: replaced, after: policy.version, at: now)
            }
            status.source = .database
            status.loadedAt = now
            status.failure = nil
            status.heldBack = nil
            status.reloads.record(UInt64(max(0, duration / .nanoseconds(1))))
        }
        loaded.yield()
        databaseAttempt.open()
        firstAttempt.open()
    }

    /// Makes a policy from disk the one that answers, if there is none or one that stands in for another.
    ///
    /// - Parameter end: Until when it stands in for a policy that is held back, its lockouts as plain messages; nil: it does not.
    /// - Returns: Whether it answers now.
    func takeFromDisk(_ policy: CompiledPolicy, standingInUntil end: Timestamp?, at now: Timestamp) -> Bool {
        loading.withLock { status in
            guard answering.value == nil || status.standsInUntil != nil else { return false }
            status.standsInUntil = end
            answering.replace(with: policy, sendingLockouts: status.sendsLockouts)
            status.source = .file
            status.loadedAt = now
            return true
        }
    }

    /// Notes that a policy could not be loaded; the one before it keeps answering.
    ///
    /// - Parameter rejected: The revision, if it cannot be compiled; nil where something else is at fault.
    func noteFailure(_ reason: String, rejecting rejected: Int64? = nil, at now: Timestamp) {
        loading.withLock { status in
            status.failure = PolicyStatus.Failure(reason: reason, at: now, rejected: rejected)
            status.failureCount += 1
        }
        databaseAttempt.open()
    }

    /// Notes that the database answered, and that its policy is the one in memory.
    func noteUpToDate() {
        loading.withLock { status in
            status.failure = nil
            status.source = .database
        }
    }

    /// Notes that the database was reached, and where it is.
    func noteDatabase(address: String?) {
        loading.withLock { status in
            status.databaseIsReachable = true
            status.databaseAddress = address
        }
    }

    /// Notes that the database cannot be reached.
    func noteDatabaseAway() {
        loading.withLock { $0.databaseIsReachable = false }
    }

    /// Notes that the database said which revision it has, and what time it is there.
    ///
    /// - Parameter offset: How many seconds its clock is ahead of that of this machine.
    /// - Returns: Whether its clock is off, and was not before.
    @discardableResult
    func notePoll(at now: Timestamp, databaseClockOffset offset: Double) -> Bool {
        loading.withLock { status in
            let wasOff = status.databaseClockOffset.map { abs($0) > DatabaseClock.tolerance } ?? false
            status.lastPolledAt = now
            status.databaseClockOffset = offset
            return abs(offset) > DatabaseClock.tolerance && !wasOff
        }
    }

    /// Notes a step of the follower, and by when it must take the next one; nil: it has ended.
    func noteFollowerStep(nextDue due: ContinuousClock.Instant?) {
        loading.withLock { $0.followerDue = due }
    }

    /// Notes that the newest policy of the database is not taken, because servers died of it.
    func noteHeldBack(_ version: PolicyVersion) {
        loading.withLock { $0.heldBack = version }
    }

    /// Puts the brake on or takes it off.
    ///
    /// - Returns: Whether that is new.
    func noteBrake(_ brake: PolicyStatus.Brake?) -> Bool {
        let before = loading.withLock { status in
            let before = status.brake
            status.brake = brake
            status.brakeFault = nil
            answering.sendLockouts(status.sendsLockouts)
            return before
        }
        return before != brake
    }

    /// Notes why nobody knows whether the brake is on.
    func noteBrake(fault: String) {
        loading.withLock { $0.brakeFault = fault }
    }

    /// Notes why the policy on disk could not be used or written; nil: it was written.
    func noteFile(fault: String?) {
        loading.withLock { $0.fileFault = fault }
    }

    /// Notes where the last good policy is kept that was replaced by one that does not continue it.
    func noteReplacedPolicy(keptAs path: String) {
        loading.withLock { $0.replacement?.keptAs = path }
    }

    /// Whether loading a policy was tried, from the database and then from disk, with or without success.
    var isFirstLoadTried: Bool { loading.withLock { $0.isFirstLoadTried } }

    /// Notes that both sources of a first policy were tried.
    func noteFirstLoadAttempt() {
        loading.withLock { $0.isFirstLoadTried = true }
        firstAttempt.open()
    }

    /// Waits until the database was asked for a policy once, with or without success.
    func firstDatabaseAttempt() async throws {
        try await databaseAttempt.wait()
    }

    /// Waits until loading a policy was tried, from the database and then from disk, with or without success.
    func firstLoadAttempt() async throws {
        try await firstAttempt.wait()
    }
}

extension CompiledPolicy {
    /// Which state of the policy tables this is.
    var version: PolicyVersion { PolicyVersion(revision: revision, token: token) }
}
