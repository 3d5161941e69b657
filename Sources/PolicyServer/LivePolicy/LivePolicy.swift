import CheckListener
import PolicyStore
import Synchronization
import UpdatePolicy

/// The policy that answers now, and the status of its loading.
final class LivePolicy: Sendable {
    /// What the listener answers from.
    let answering = CurrentPolicy()
    private let loading = Mutex(PolicyStatus())
    private let databaseAttempt = Latch()
    private let firstAttempt = Latch()

    /// An event for each policy loaded from the database; buffers one event.
    let loadedFromDatabase: AsyncStream<Void>
    private let loaded: AsyncStream<Void>.Continuation

    init() {
        (loadedFromDatabase, loaded) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// The policy that answers, nil before the first one is loaded.
    var current: CompiledPolicy? { answering.value }

    var status: PolicyStatus { loading.withLock { $0 } }

    /// Changes the status, and with it whether lockouts are sent and who waits for an attempt to load a policy.
    @discardableResult
    func update<Result>(_ change: (inout PolicyStatus) -> Result) -> Result {
        loading.withLock { status in
            let sentLockouts = status.sendsLockouts
            let result = change(&status)
            if status.sendsLockouts != sentLockouts { answering.sendLockouts(status.sendsLockouts) }
            if status.failureCount > 0 || status.source == .database { databaseAttempt.open() }
            if status.isFirstLoadTried || status.source == .database { firstAttempt.open() }
            return result
        }
    }

    /// Makes a policy from the database the one that answers.
    func replace(with policy: CompiledPolicy, at now: Timestamp, after duration: Duration = .zero) {
        update { status in
            status.standsInUntil = nil
            answering.replace(with: policy, sendingLockouts: status.sendsLockouts)
            status.source = .database
            status.loadedAt = now
            status.failure = nil
            status.heldBack = nil
            status.reloads.record(UInt64(max(0, duration / .nanoseconds(1))))
        }
        loaded.yield()
    }

    /// Makes a policy from disk the one that answers, if there is none or one that stands in for another.
    ///
    /// - Parameter end: Until when it stands in for a policy that is held back, its lockouts as plain messages; nil: it does not.
    /// - Returns: Whether it answers now.
    func takeFromDisk(_ policy: CompiledPolicy, standingInUntil end: Timestamp?, at now: Timestamp) -> Bool {
        update { status in
            guard answering.value == nil || status.standsInUntil != nil else { return false }
            status.standsInUntil = end
            answering.replace(with: policy, sendingLockouts: status.sendsLockouts)
            status.source = .file
            status.loadedAt = now
            return true
        }
    }

    /// Waits until the database was asked for a policy once, with or without success.
    func firstDatabaseAttempt() async throws { try await databaseAttempt.wait() }

    /// Waits until loading a policy was tried, from the database and then from disk, with or without success.
    func firstLoadAttempt() async throws { try await firstAttempt.wait() }
}

extension CompiledPolicy {
    /// Which state of the policy tables this is.
    var version: PolicyVersion { PolicyVersion(revision: revision, token: token) }
}
