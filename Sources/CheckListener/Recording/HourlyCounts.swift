package import UpdatePolicy

/// What one recorder counted in an hour, or in the part of it since its counts were taken over.
package struct HourlyCounts: Sendable {
    /// The hour, counted from 1970 in UTC.
    package let hour: Int64
    /// Checks by the bytes of a kind.
    package internal(set) var kinds = CountTable(zero: KindCounts.zero)
    /// Checks of apps that the policy does not list, and of kinds beyond the limit.
    package internal(set) var others = KindCounts.zero
    /// Checks of kinds beyond the limit, by the bundle of their app.
    package internal(set) var merged = CountTable(zero: 0)
    private var policies: [RuleCounts] = []
    /// That of the policy that came last.
    private var serialNumber: UInt64?

    init(hour: Int64) {
        self.hour = hour
    }

    var isEmpty: Bool { kinds.count == 0 && others == .zero && policies.isEmpty }

    @inline(__always)
    mutating func count(_ rule: RuleID, isLockout: Bool, of policy: CompiledPolicy) {
        if serialNumber != policy.serialNumber {
            serialNumber = policy.serialNumber
            policies.append(RuleCounts(policy: policy))
        }
        policies[policies.count &- 1].count(rule, isLockout: isLockout)
    }

    /// Messages by the key of a rule, which may be there several times.
    package var rules: [(rule: String, counts: SentCounts)] { policies.flatMap(\.all) }

    package static func hour(of time: Timestamp) -> Int64 {
        time.microsecondsSince1970.flooredQuotient(by: microsecondsPerHour)
    }

    package static func start(of hour: Int64) -> Timestamp {
        Timestamp(microsecondsSince1970: hour * microsecondsPerHour)
    }

    private static let microsecondsPerHour: Int64 = 3_600_000_000
}

/// How many checks one kind of client made.
package struct KindCounts: Sendable, Equatable {
    package static let zero = KindCounts()

    package internal(set) var checks = 0
    /// How many of them were sent a message.
    package internal(set) var messages = 0
    /// How many of them were locked out.
    package internal(set) var lockouts = 0

    @inline(__always)
    static func += (counts: inout KindCounts, other: KindCounts) {
        counts.checks &+= other.checks
        counts.messages &+= other.messages
        counts.lockouts &+= other.lockouts
    }
}

package struct SentCounts: Sendable, Equatable {
    package static let zero = SentCounts()

    package internal(set) var sent = 0
    /// How many of them lock the client out.
    package internal(set) var lockouts = 0
}

/// How often the messages of the rules of one policy were sent.
private struct RuleCounts: Sendable {
    let policy: CompiledPolicy
    /// By the index of the app, after those for every app, and by the index of the rule.
    private var counts: [[SentCounts]] = []
    private var counted: [RuleID] = []

    init(policy: CompiledPolicy) {
        self.policy = policy
    }

    @inline(__always)
    mutating func count(_ rule: RuleID, isLockout: Bool) {
        let group = Int(rule.app) &+ 1
        let index = Int(rule.index)
        if group >= counts.count || index >= counts[group].count { makeRoom(group, index) }
        if counts[group][index].sent == 0 { counted.append(rule) }
        counts[group][index].sent &+= 1
        if isLockout { counts[group][index].lockouts &+= 1 }
    }

    @inline(never)
    private mutating func makeRoom(_ group: Int, _ index: Int) {
        if group >= counts.count { counts += [[SentCounts]](repeating: [], count: group + 1 - counts.count) }
        let missing = index + 1 - counts[group].count
        if missing > 0 { counts[group] += [SentCounts](repeating: .zero, count: missing) }
    }

    var all: [(rule: String, counts: SentCounts)] {
        counted.map { (policy.key(of: $0), counts[Int($0.app) + 1][Int($0.index)]) }
    }
}
