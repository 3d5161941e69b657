// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import UpdatePolicy

/// What one recorder counted in an hour.
struct HourOfCounts: Sendable {
    /// The hour, counted from 1970 in UTC.
    let hour: Int64
    var kinds = CountTable(zero: KindCounts.zero)
    var rules = CountTable(zero: SentCounts.zero)
    /// Checks of apps that the policy does not list, and of kinds beyond those that are kept apart.
    var others = KindCounts.zero
    /// Checks of kinds beyond those that are kept apart, by app.
    var merged = CountTable(zero: 0)

    var ruleNumbers = RuleNumbers()

    /// The number of a rule among those that are counted.
    @inline(__always)
    mutating func numberOfRule(at place: RulePlace, in policy: CompiledPolicy) -> Int? {
        if let number = ruleNumbers.number(at: place, in: policy) { return number }
        var key = policy.ruleKey(at: place)
        let number = key.withUTF8 { rules.number(of: UnsafeRawBufferPointer($0), mayInsert: { true }) }
        if let number { ruleNumbers.set(number, at: place, in: policy) }
        return number
    }

    /// Whether nothing was counted since everything was handed over.
    var isDrained: Bool { kinds.isDrained && rules.isDrained && merged.isDrained && others == .zero }

    /// The hour that a time is in.
    static func hour(of time: Timestamp) -> Int64 {
        time.microsecondsSince1970.flooredQuotient(by: microsecondsPerHour)
    }

    /// When an hour begins.
    static func start(of hour: Int64) -> Timestamp {
        Timestamp(microsecondsSince1970: hour * microsecondsPerHour)
    }

    private static let microsecondsPerHour: Int64 = 3_600_000_000
}
