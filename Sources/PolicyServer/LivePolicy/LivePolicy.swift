// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Synchronization
public import UpdatePolicy

/// The policy that answers now, and what is known about its loading.
///
/// Readers on the event loops take one reference under a lock that is held for a few instructions; a reload builds
/// everything beforehand and swaps that reference.
public final class LivePolicy: Sendable {
    private let answering: Mutex<CompiledPolicy?>
    private let loading: Mutex<PolicyStatus>
    private let firstAttempt = Gate()

    /// Creates a live policy that has none yet and answers no messages.
    public init() {
        answering = Mutex(nil)
        loading = Mutex(PolicyStatus())
    }

    /// The policy that answers, nil before the first one is loaded.
    public var current: CompiledPolicy? {
        answering.withLock { $0 }
    }

    /// What the management listener tells about the policy.
    public var status: PolicyStatus {
        loading.withLock { $0 }
    }

    /// Makes `policy` the one that answers.
    func replace(with policy: CompiledPolicy, source: PolicyStatus.Source, at now: Timestamp) {
        answering.withLock { $0 = policy }
        loading.withLock { status in
            status.source = source
            status.loadedAt = now
            status.failure = nil
        }
        firstAttempt.open()
    }

    /// Notes that a policy could not be loaded; the one before it keeps answering.
    func noteFailure(_ reason: String, at now: Timestamp) {
        loading.withLock { $0.failure = PolicyStatus.Failure(reason: reason, at: now) }
        firstAttempt.open()
    }

    /// Notes that the database answered, and that its policy is the one in memory.
    func noteUpToDate() {
        loading.withLock { $0.failure = nil }
    }

    /// Notes whether the database can be reached.
    func noteDatabase(isReachable: Bool) {
        loading.withLock { $0.databaseIsReachable = isReachable }
    }

    /// Waits until loading a policy was tried once, with or without success.
    func firstLoadAttempt() async throws {
        try await firstAttempt.wait()
    }
}
