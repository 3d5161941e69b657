// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Synchronization
import UpdatePolicy

/// Counts the checks that one event loop answers, in memory.
///
/// The event loop takes the lock for each check and finds it free, but for the moments in which the writer takes over a
/// few hundred counts. Nothing is kept of a client but its kind.
final class CheckRecorder: Sendable {
    /// Totals since the start, of checks.
    struct Totals: Sendable {
        var recorded = 0
        var unlistedApp = 0
        var beyondBound = 0
        var unreadableVersion = 0
    }

    /// A piece of what was counted.
    struct Piece: Sendable {
        let hour: Int64
        var kinds = DrainedCounts<KindCounts>()
        var rules = DrainedCounts<SentCounts>()
        var others = KindCounts.zero
        var merged = DrainedCounts<Int>()
    }

    private struct State: Sendable {
        var current: HourOfCounts
        var finished: [HourOfCounts] = []
        var totals = Totals()
        var known = KnownKinds.none
        var scratch = [UInt8](repeating: 0, count: 1_024)
    }

    private let state: Mutex<State>
    private let allowance: KindAllowance

    /// The most keys that are taken over while the event loop may have to wait.
    private static let keysPerPiece = 256

    /// Creates a recorder whose new kinds are taken from `allowance`.
    init(allowance: KindAllowance) {
        self.allowance = allowance
        state = Mutex(State(current: HourOfCounts(hour: .min)))
    }

    /// Counts a check that was answered.
    ///
    /// - Parameters:
    ///   - client: Who asked.
    ///   - answer: What it was sent; nil when there was no policy yet.
    ///   - policy: What answered.
    ///   - now: The time of the check.
    func record(_ client: borrowing Client, _ answer: AnswerSummary?, _ policy: CompiledPolicy?, at now: Timestamp) {
        let hour = HourOfCounts.hour(of: now)
        state.withLock { state in
            if hour != state.current.hour { turn(&state, to: hour) }
            let lockouts = count(answer, policy, in: &state)
            state.totals.recorded &+= 1
            if client.hasUnreadableVersion { state.totals.unreadableVersion &+= 1 }
            let counts = (messages: answer?.sent.isEmpty == false ? 1 : 0, lockouts: lockouts > 0 ? 1 : 0)
            if let bundle = answer?.bundle {
                let length = client.writeKind(ofApp: bundle, into: &state.scratch)
                let known = state.known
                let isCounted = state.scratch.withUnsafeBytes { scratch in
                    let kind = UnsafeRawBufferPointer(rebasing: scratch[..<length])
                    return state.current.kinds.count(
                        kind,
                        mayInsert: {
                            if known.contains(kind) { return true }
                            let isReleased = policy?.releaseVersion(of: client) != nil
                            return allowance.take(isReleased ? .released : .none, app: bundle, hour: hour)
                        },
                        { Self.add(counts.messages, counts.lockouts, to: &$0) }
                    )
                }
                if isCounted { return }
                state.totals.beyondBound &+= 1
                Self.countMerged(bundle, in: &state)
                if let version = policy?.releaseVersion(of: client), !allowance.isNone {
                    let length = Client.writeCoarseKind(ofVersion: version, in: &state.scratch)
                    state.scratch.withUnsafeBytes { scratch in
                        _ = state.current.kinds.count(
                            UnsafeRawBufferPointer(rebasing: scratch[..<length]),
                            mayInsert: { true },
                            { Self.add(counts.messages, counts.lockouts, to: &$0) }
                        )
                    }
                    return
                }
            } else {
                state.totals.unlistedApp &+= 1
            }
            Self.add(counts.messages, counts.lockouts, to: &state.current.others)
        }
    }

    /// Counts a check of an app whose kind is beyond those that are kept apart.
    @inline(never)
    private static func countMerged(_ bundle: String, in state: inout State) {
        var bundle = bundle
        bundle.withUTF8 { bundle in
            _ = state.current.merged.count(
                UnsafeRawBufferPointer(bundle),
                mayInsert: { true },
                { $0 &+= 1 }
            )
        }
    }

    /// Counts the messages of an answer by rule.
    ///
    /// - Returns: How many of them lock the client out.
    @inline(__always)
    private func count(_ answer: AnswerSummary?, _ policy: CompiledPolicy?, in state: inout State) -> Int {
        guard let answer, let policy else { return 0 }
        var lockouts = 0
        for sent in answer.sent {
            let lockout = sent.lockout ? 1 : 0
            lockouts &+= lockout
            guard let number = state.current.numberOfRule(at: sent.place, in: policy) else { continue }
            state.current.rules.count(at: number) { counts in
                counts.sent &+= 1
                counts.lockouts &+= lockout
            }
        }
        return lockouts
    }

    @inline(__always)
    private static func add(_ messages: Int, _ lockouts: Int, to counts: inout KindCounts) {
        counts.checks &+= 1
        counts.messages &+= messages
        counts.lockouts &+= lockouts
    }

    /// Begins another hour; the counts of the one before stay until they are taken over.
    @inline(never)
    private func turn(_ state: inout State, to hour: Int64) {
        if !state.current.isDrained { state.finished.append(state.current) }
        state.current = HourOfCounts(hour: hour)
    }

    /// Keeps these kinds apart from now on, whatever else comes.
    func learn(_ known: KnownKinds) {
        let before = state.withLock { state in
            let before = state.known
            state.known = known
            return before
        }
        // Freed here, and not while the event loop waits.
        withExtendedLifetime(before) {}
    }

    // MARK: Taking over

    /// The totals since the start.
    var totals: Totals { state.withLock { $0.totals } }

    /// Takes over everything that was counted, in pieces, so that the event loop never waits for long.
    func drain(at now: Timestamp, _ body: (Piece) -> Void) {
        let hour = HourOfCounts.hour(of: now)
        state.withLock { state in
            if state.current.hour < hour { turn(&state, to: hour) }
        }
        while true {
            let piece = state.withLock { Self.nextPiece(&$0) }
            guard let piece else { return }
            body(piece)
        }
    }

    private static func nextPiece(_ state: inout State) -> Piece? {
        if !state.finished.isEmpty {
            let piece = take(from: &state.finished[0])
            if state.finished[0].isDrained { state.finished.removeFirst() }
            return piece
        }
        return state.current.isDrained ? nil : take(from: &state.current)
    }

    private static func take(from hour: inout HourOfCounts) -> Piece {
        var piece = Piece(hour: hour.hour)
        hour.kinds.drain(limit: keysPerPiece, into: &piece.kinds)
        hour.rules.drain(limit: keysPerPiece, into: &piece.rules)
        hour.merged.drain(limit: keysPerPiece, into: &piece.merged)
        piece.others = hour.others
        hour.others = .zero
        return piece
    }
}
