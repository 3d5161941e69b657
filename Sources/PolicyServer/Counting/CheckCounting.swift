import CheckListener
import NIOCore
import PolicyStore
import Synchronization
import UpdatePolicy

/// Counts the checks of a server: owns the recorders of its event loops, the totals of what was answered, and those of written
/// and dropped counts.
final class CheckCounting: Sendable {
    private struct Outcome: Sendable {
        var written = 0
        var dropped = 0
        var lastWritten: Timestamp?
        var isWritable: Bool?
        var blownFuses = 0
        var fuseFailures = 0
    }

    /// The recorders of the event loops.
    let recorders: CheckRecorders
    /// How many kinds of the last days are always counted separately, on each event loop.
    let maximumKnownKinds: Int
    private let outcome = Mutex(Outcome())
    private let answered = Mutex(AnswerTotals())

    /// Creates the recorders.
    ///
    /// - Parameters:
    ///   - eventLoopGroup: The event loops that answer checks.
    ///   - maximumKinds: How many kinds of clients are counted separately in an hour, besides the known ones; a kind counts
    ///     once for each event loop that receives its checks.
    init(eventLoopGroup: any EventLoopGroup, maximumKinds: Int) {
        recorders = CheckRecorders(eventLoopGroup: eventLoopGroup, maximumKinds: maximumKinds)
        maximumKnownKinds = maximumKinds / 4
    }

    /// Always counts these kinds of the last days separately from now on.
    func learn(_ kinds: [ClientKind]) {
        recorders.learn(kinds)
    }

    /// The totals since the start.
    var status: CountingStatus {
        var status = CountingStatus()
        let totals = recorders.totals
        status.recorded = totals.recorded
        status.unlistedApp = totals.unlistedApp
        status.beyondBound = totals.beyondBound
        status.unreadableVersion = totals.unreadableVersion
        outcome.withLock { outcome in
            status.written = outcome.written
            status.dropped = outcome.dropped
            status.lastWritten = outcome.lastWritten
            status.isWritable = outcome.isWritable
            status.blownFuses = outcome.blownFuses
            status.fuseFailures = outcome.fuseFailures
        }
        return status
    }

    /// What the checks that were taken by ``drain(at:)`` were answered.
    var answers: AnswerTotals { answered.withLock { $0 } }

    /// Takes everything that was counted since the previous call.
    func drain(at now: Timestamp) -> CountBatch {
        var batch = CountBatch()
        recorders.drain(at: now) { piece in
            let hour = HourlyCounts.start(of: piece.hour)
            batch.checks += piece.kinds.map { key, counts in
                Self.count(hour, ClientKind(bytes: key), counts)
            }
            if piece.others != .zero {
                batch.checks.append(Self.count(hour, nil, piece.others))
            }
            batch.merged += piece.merged.map { bundle, checks in
                MergedCount(hour: hour, bundle: String(decoding: bundle, as: UTF8.self), checks: checks)
            }
            batch.rules += piece.rules.map { key, counts in
                RuleCount(
                    hour: hour, rule: String(decoding: key, as: UTF8.self), sent: counts.sent, lockouts: counts.lockouts
                )
            }
        }
        batch.lockouts = Self.bounded(recorders.drainLockouts())
        answered.withLock { $0.add(batch, at: now) }
        return batch
    }

    /// The most counts of lockouts that are written at a time.
    static let mostLockoutCounts = 1_000

    /// What is written of lockouts: all of it where there is room, else those with a fuse, then those that lock out most. The
    /// parts of a minute are one.
    private static func bounded(_ counted: [LockoutCounts]) -> [LockoutCount] {
        var counts: [LockoutCount: (checks: Int, lockouts: Int, hasFuse: Bool)] = [:]
        for part in counted {
            for load in part.all {
                let key = LockoutCount(
                    rule: load.rule, bundle: load.bundle, minute: part.minute, checks: 0, lockouts: 0,
                    revision: part.revision
                )
                let before = counts[key] ?? (0, 0, load.hasFuse)
                counts[key] = (before.checks + load.checks, before.lockouts + load.lockouts, before.hasFuse)
            }
        }
        let fused = counts.count { $0.value.hasFuse }
        let kept =
            counts.count <= mostLockoutCounts
            ? counts.map(\.self)
            : Array(
                counts.sorted { left, right in
                    if left.value.hasFuse != right.value.hasFuse { return left.value.hasFuse }
                    return left.value.lockouts > right.value.lockouts
                }.prefix(max(fused, mostLockoutCounts))
            )
        return kept.map { count, sums in
            var count = count
            (count.checks, count.lockouts) = (sums.checks, sums.lockouts)
            return count
        }
    }

    private static func count(_ hour: Timestamp, _ kind: ClientKind?, _ counts: KindCounts) -> CheckCount {
        CheckCount(hour: hour, kind: kind, checks: counts.checks, messages: counts.messages, lockouts: counts.lockouts)
    }

    /// Notes that the database has the counts of this many more checks.
    func noteWritten(_ checks: Int, at now: Timestamp) {
        outcome.withLock { outcome in
            outcome.written += checks
            outcome.lastWritten = now
            outcome.isWritable = true
        }
    }

    /// Notes that fuses were judged, and how many have blown; nil: they could not be judged.
    func noteFuses(blown: Int?) {
        outcome.withLock { outcome in
            outcome.blownFuses += blown ?? 0
            if blown == nil { outcome.fuseFailures += 1 }
        }
    }

    /// Notes that writing to the database failed, and that the counts of this many checks were dropped.
    func noteFailure(dropped checks: Int) {
        outcome.withLock { outcome in
            outcome.dropped += checks
            outcome.isWritable = false
        }
    }
}
