import Synchronization
package import UpdatePolicy

/// Counts the checks that one event loop answers, in memory.
///
/// The event loop takes the lock for each check and finds it free, but for the moment in which the writer takes over what
/// was counted. Nothing is kept of a client but its kind, and of unknown apps and languages their names (``NamesOfUnknowns``).
package final class CheckRecorder: Sendable {
    /// Totals since the start, of checks.
    package struct Totals: Sendable {
        package fileprivate(set) var recorded = 0
        /// Those of apps that the policy does not list.
        package fileprivate(set) var unlistedApp = 0
        /// Those of kinds beyond the limit.
        package fileprivate(set) var beyondBound = 0
        /// Those that named a version which cannot be read.
        package fileprivate(set) var unreadableVersion = 0

        mutating func add(_ other: Totals) {
            recorded += other.recorded
            unlistedApp += other.unlistedApp
            beyondBound += other.beyondBound
            unreadableVersion += other.unreadableVersion
        }
    }

    private struct State: Sendable {
        var current: HourlyCounts
        var finished: [HourlyCounts] = []
        var lockouts: [LockoutCounts] = []
        var totals = Totals()
        var scratch = ByteWriter()
        var unknowns = NamesOfUnknowns()
    }

    private let state: Mutex<State>
    private let limit: CardinalityLimit

    init(limit: CardinalityLimit) {
        self.limit = limit
        state = Mutex(State(current: HourlyCounts(hour: .min)))
    }

    /// Counts a check that was answered.
    package func record(
        _ client: borrowing Client,
        _ answer: borrowing Answer,
        _ policy: CompiledPolicy?,
        at now: Timestamp
    ) {
        let hour = HourlyCounts.hour(of: now)
        state.withLock { state in
            if hour != state.current.hour { roll(&state, to: hour) }
            let lockouts = count(answer, policy, in: &state)
            if let policy, policy.hasLockouts, policy.sendsLockouts {
                Self.countLockouts(answer, policy, at: now, in: &state)
            }
            state.totals.recorded &+= 1
            if client.hasUnreadableVersion { state.totals.unreadableVersion &+= 1 }
            let counts = KindCounts(
                checks: 1, messages: answer.sent.isEmpty ? 0 : 1, lockouts: lockouts > 0 ? 1 : 0
            )
            if !answer.sent.isEmpty, state.totals.recorded % NamesOfUnknowns.sampling == 0 {
                Self.noteLanguage(client, answer, policy, in: &state)
            }
            if let bundle = answer.bundle {
                client.writeKind(ofApp: bundle, to: &state.scratch)
                let isCounted = state.scratch.withBytes { kind in
                    state.current.kinds.count(
                        kind,
                        mayInsert: { hash in
                            if limit.holds(hash, hour: hour) { return true }
                            let isReleased = policy?.releaseVersion(of: client) != nil
                            return limit.acquire(hash, isReleased: isReleased, app: bundle, hour: hour)
                        },
                        { $0 += counts }
                    )
                }
                if isCounted { return }
                state.totals.beyondBound &+= 1
                Self.countMerged(bundle, in: &state)
                if let version = policy?.releaseVersion(of: client), !limit.isZero {
                    Client.writeCoarseKind(ofVersion: version, to: &state.scratch)
                    state.scratch.withBytes { kind in
                        _ = state.current.kinds.count(kind, mayInsert: { _ in true }, { $0 += counts })
                    }
                    return
                }
            } else {
                state.totals.unlistedApp &+= 1
                Self.noteBundle(client, in: &state)
            }
            state.current.others += counts
        }
    }

    @inline(never)
    private static func noteBundle(_ client: borrowing Client, in state: inout State) {
        if let bundle = client.bundle { state.unknowns.unlistedBundles.note(bundle.string) }
    }

    /// Notes the language of a client none of whose messages is translated into it.
    @inline(never)
    private static func noteLanguage(
        _ client: borrowing Client,
        _ answer: borrowing Answer,
        _ policy: CompiledPolicy?,
        in state: inout State
    ) {
        guard let language = client.language?.current, let policy, !policy.hasText(of: answer, for: client) else {
            return
        }
        state.unknowns.textlessLanguages.note(language, weight: NamesOfUnknowns.sampling)
    }

    @inline(never)
    private static func countMerged(_ bundle: String, in state: inout State) {
        var bundle = bundle
        bundle.withUTF8 { bundle in
            _ = state.current.merged.count(UnsafeRawBufferPointer(bundle), mayInsert: { _ in true }, { $0 &+= 1 })
        }
    }

    /// Counts the messages of an answer by rule.
    ///
    /// - Returns: How many of them lock the client out.
    @inline(__always)
    private func count(_ answer: borrowing Answer, _ policy: CompiledPolicy?, in state: inout State) -> Int {
        guard let policy else { return 0 }
        var lockouts = 0
        for sent in answer.sent {
            if sent.lockout { lockouts &+= 1 }
            state.current.count(sent.id, isLockout: sent.lockout, of: policy)
        }
        return lockouts
    }

    /// Counts an answer for the lockouts of its policy. Those of another minute or policy stay until they are taken over.
    @inline(__always)
    private static func countLockouts(
        _ answer: borrowing Answer,
        _ policy: CompiledPolicy,
        at now: Timestamp,
        in state: inout State
    ) {
        let last = state.lockouts.count - 1
        if last < 0 || !state.lockouts[last].takes(policy, at: now) {
            state.lockouts.append(LockoutCounts(policy, at: now))
        }
        state.lockouts[state.lockouts.count - 1].count(answer)
    }

    /// Begins another hour; the counts of the one before stay until they are taken over.
    @inline(never)
    private func roll(_ state: inout State, to hour: Int64) {
        if !state.current.isEmpty { state.finished.append(state.current) }
        state.current = HourlyCounts(hour: hour)
    }

    // MARK: Taking over

    package var totals: Totals { state.withLock { $0.totals } }

    /// The names of what nobody configured, since the start.
    var unknownNames: NamesOfUnknowns { state.withLock { $0.unknowns } }

    /// Takes over what was counted for lockouts.
    package func drainLockouts() -> [LockoutCounts] {
        state.withLock { state in
            let lockouts = state.lockouts
            state.lockouts = []
            return lockouts
        }
    }

    /// Takes over everything else that was counted.
    package func drain(at now: Timestamp) -> [HourlyCounts] {
        let hour = HourlyCounts.hour(of: now)
        return state.withLock { state in
            roll(&state, to: max(hour, state.current.hour))
            defer { state.finished = [] }
            return state.finished
        }
    }
}
