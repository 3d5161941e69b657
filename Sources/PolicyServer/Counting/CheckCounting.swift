import CheckListener
import NIOCore
import PolicyStore
import Synchronization
import UpdatePolicy

/// Counts the checks of a server: owns the recorders of its event loops, the totals of what was answered, and those of written
/// and dropped counts.
final class CheckCounting: Sendable {
    let recorders: CheckRecorders
    /// How many kinds of the last days are always counted separately, on each event loop.
    let maximumKnownKinds: Int
    private let delivered = Mutex(CountingTotals())
    private let answered = Mutex(AnswerTotals())

    init(eventLoopGroup: any EventLoopGroup, maximumKinds: Int) {
        recorders = CheckRecorders(eventLoopGroup: eventLoopGroup, maximumKinds: maximumKinds)
        maximumKnownKinds = maximumKinds / 4
    }

    var totals: CountingTotals {
        var totals = delivered.withLock { $0 }
        let counted = recorders.totals
        totals.recorded = counted.recorded
        totals.unlistedApp = counted.unlistedApp
        totals.beyondBound = counted.beyondBound
        totals.unreadableVersion = counted.unreadableVersion
        return totals
    }

    /// Notes what became of counts.
    func note(_ change: (inout CountingTotals) -> Void) { delivered.withLock { change(&$0) } }

    /// What the checks that were taken by ``drain(at:)`` were answered.
    var answers: AnswerTotals { answered.withLock { $0 } }

    func drain(at now: Timestamp) -> CountBatch {
        var batch = CountBatch()
        for counts in recorders.drain(at: now) {
            let hour = HourlyCounts.start(of: counts.hour)
            batch.checks += counts.kinds.map { Self.count(hour, ClientKind(bytes: $0), $1) }
            if counts.others != .zero { batch.checks.append(Self.count(hour, nil, counts.others)) }
            batch.merged += counts.merged.map { bundle, checks in
                MergedCount(hour: hour, bundle: String(decoding: bundle, as: UTF8.self), checks: checks)
            }
            batch.rules += counts.rules.map { rule, counts in
                RuleCount(hour: hour, rule: rule, sent: counts.sent, lockouts: counts.lockouts)
            }
        }
        batch.lockouts = Self.bounded(recorders.drainLockouts())
        answered.withLock { $0.add(batch) }
        return batch
    }

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
        let kept = counts.sorted { left, right in
            if left.value.hasFuse != right.value.hasFuse { return left.value.hasFuse }
            return left.value.lockouts > right.value.lockouts
        }
        return kept.prefix(max(fused, mostLockoutCounts)).map { count, sums in
            var count = count
            (count.checks, count.lockouts) = (sums.checks, sums.lockouts)
            return count
        }
    }

    private static func count(_ hour: Timestamp, _ kind: ClientKind?, _ counts: KindCounts) -> CheckCount {
        CheckCount(hour: hour, kind: kind, checks: counts.checks, messages: counts.messages, lockouts: counts.lockouts)
    }
}

/// The totals of counting, in checks since the server started, as `/policy` shows them.
struct CountingTotals: Sendable {
    /// Checks that were answered and counted in memory.
    var recorded = 0
    /// Those among them whose app the policy does not list; they are counted without their kind.
    var unlistedApp = 0
    /// Those among them whose kind is beyond the bound on kinds; they are counted without their kind.
    var beyondBound = 0
    /// Those among them that named a version which cannot be read.
    var unreadableVersion = 0
    /// Checks whose counts the database has.
    var written = 0
    /// Checks whose counts were dropped, because the database could not be written.
    var dropped = 0
    /// When the database was written last; nil before the first time.
    var lastWritten: Timestamp?
    /// Whether the last attempt to write succeeded; nil before the first one.
    var writable: Bool?
    /// Rules whose fuse has blown because of what this server wrote.
    var blownFuses = 0
    /// Failed attempts to judge the fuses.
    var fuseFailures = 0

    var jsonValue: JSONValue {
        .object([
            ("beyondBound", beyondBound.jsonValue), ("dropped", dropped.jsonValue),
            ("lastWritten", lastWritten?.jsonValue), ("recorded", recorded.jsonValue),
            ("unlistedApp", unlistedApp.jsonValue), ("writable", writable?.jsonValue), ("written", written.jsonValue),
        ])
    }
}
