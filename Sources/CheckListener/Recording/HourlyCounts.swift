package import UpdatePolicy

/// What one recorder counted in an hour.
package struct HourlyCounts: Sendable {
    /// The hour, counted from 1970 in UTC.
    let hour: Int64
    var kinds = CountTable(zero: KindCounts.zero)
    var rules = CountTable(zero: SentCounts.zero)
    /// Checks of apps that the policy does not list, and of kinds beyond the limit.
    var others = KindCounts.zero
    /// Checks of kinds beyond the limit, by app.
    var merged = CountTable(zero: 0)

    /// Where the rules of the policy are in the table of rules.
    private var ruleIndexes = RuleIndexCache()

    init(hour: Int64) {
        self.hour = hour
    }

    /// The index of a rule in the table of rules.
    @inline(__always)
    mutating func indexOfRule(_ rule: RuleID, in policy: CompiledPolicy) -> Int? {
        if let index = ruleIndexes.index(of: rule, in: policy) { return index }
        var key = policy.key(of: rule)
        let index = key.withUTF8 { rules.index(of: UnsafeRawBufferPointer($0), mayInsert: { true }) }
        if let index { ruleIndexes.set(index, of: rule, in: policy) }
        return index
    }

    /// Whether nothing was counted since everything was handed over.
    var isDrained: Bool { kinds.isDrained && rules.isDrained && merged.isDrained && others == .zero }

    /// The hour that a time is in.
    package static func hour(of time: Timestamp) -> Int64 {
        time.microsecondsSince1970.flooredQuotient(by: microsecondsPerHour)
    }

    /// When an hour begins.
    package static func start(of hour: Int64) -> Timestamp {
        Timestamp(microsecondsSince1970: hour * microsecondsPerHour)
    }

    private static let microsecondsPerHour: Int64 = 3_600_000_000
}

/// How many checks one kind of client made.
package struct KindCounts: Sendable, Equatable {
    package static let zero = KindCounts()

    /// How many checks were counted.
    package internal(set) var checks = 0
    /// How many of them were sent a message.
    package internal(set) var messages = 0
    /// How many of them were locked out.
    package internal(set) var lockouts = 0
}

/// How often the message of one rule was sent.
package struct SentCounts: Sendable, Equatable {
    package static let zero = SentCounts()

    /// How many messages were sent.
    package internal(set) var sent = 0
    /// How many of them lock the client out.
    package internal(set) var lockouts = 0
}

/// The indexes of the rules of one policy in a table of counts.
///
/// So a rule's key is looked up once after each change of the policy, and not for each message.
private struct RuleIndexCache: Sendable {
    private var policy: UInt64?
    /// By the index of the app, after those for every app, and by the index of the rule; -1 where it is not known.
    private var indexes: [[Int32]] = []

    /// The index of a rule; nil where it has not been set for this policy.
    @inline(__always)
    func index(of id: RuleID, in policy: CompiledPolicy) -> Int? {
        let group = Int(id.app) &+ 1
        let rule = Int(id.index)
        guard self.policy == policy.serialNumber, group < indexes.count, rule < indexes[group].count else { return nil }
        let index = Int(indexes[group][rule])
        return index < 0 ? nil : index
    }

    /// Sets the index of a rule, and forgets those of other policies.
    mutating func set(_ index: Int, of id: RuleID, in policy: CompiledPolicy) {
        if self.policy != policy.serialNumber {
            self.policy = policy.serialNumber
            indexes = []
        }
        let group = Int(id.app) + 1
        let rule = Int(id.index)
        if group >= indexes.count { indexes += [[Int32]](repeating: [], count: group + 1 - indexes.count) }
        let missing = rule + 1 - indexes[group].count
        if missing > 0 { indexes[group] += [Int32](repeating: -1, count: missing) }
        indexes[group][rule] = Int32(truncatingIfNeeded: index)
    }
}
