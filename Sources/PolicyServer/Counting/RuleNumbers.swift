// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import UpdatePolicy

/// The numbers of the rules of one policy in a table of counts, found by where the rules are.
///
/// So a rule's key is looked up once after each change of the policy, and not for each message.
struct RuleNumbers: Sendable {
    private var policy: UInt64?
    /// By the number of the app, after those for every app, and by the number of the rule; -1 where it is not known.
    private var numbers: [[Int32]] = []

    /// The number of a rule; nil where it has not been set for this policy.
    @inline(__always)
    func number(at place: RulePlace, in policy: CompiledPolicy) -> Int? {
        let group = Int(place.app) &+ 1
        let rule = Int(place.number)
        guard self.policy == policy.serialNumber, group < numbers.count, rule < numbers[group].count else { return nil }
        let number = Int(numbers[group][rule])
        return number < 0 ? nil : number
    }

    /// Sets the number of a rule, and forgets those of other policies.
    mutating func set(_ number: Int, at place: RulePlace, in policy: CompiledPolicy) {
        if self.policy != policy.serialNumber {
            self.policy = policy.serialNumber
            numbers = []
        }
        let group = Int(place.app) + 1
        let rule = Int(place.number)
        if group >= numbers.count { numbers += [[Int32]](repeating: [], count: group + 1 - numbers.count) }
        let missing = rule + 1 - numbers[group].count
        if missing > 0 { numbers[group] += [Int32](repeating: -1, count: missing) }
        numbers[group][rule] = Int32(truncatingIfNeeded: number)
    }
}
