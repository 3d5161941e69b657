extension CompiledPolicy {
    package var hasFuses: Bool {
        (apps.map(\.rules) + [rulesForEveryApp]).contains { group in
            group?.lockoutRules.contains { group?.hasFuse($0) ?? false } ?? false
        }
    }

    /// How many rules have a fuse that can blow: enabled lockouts of apps that are not paused.
    package var armedFuseCount: Int {
        let groups = apps.compactMap { $0.isPaused ? nil : $0.rules } + [rulesForEveryApp].compactMap(\.self)
        return groups.reduce(0) { sum, group in sum + group.lockoutRules.count { group.hasFuse($0) } }
    }

    /// The time around `time` in which the same lockouts may lock out; empty where none is sent.
    package func lockoutPeriod(at time: Timestamp) -> Range<Int64> {
        let time = time.microsecondsSince1970
        guard sendsLockouts, hasLockouts else { return time..<time }
        let next = lockoutTimes.indices.partitioningIndex { time < lockoutTimes[$0] }
        return (next > 0 ? lockoutTimes[next - 1] : .min)..<(next < lockoutTimes.count ? lockoutTimes[next] : .max)
    }

    /// The place of an answer's app among ``countedAppCount``: the first is that of apps that the policy does not list.
    package func appPlace(of answer: borrowing Answer) -> Int {
        answer.bundle == nil ? 0 : Int(answer.appIndex) + 1
    }

    package var countedAppCount: Int { apps.count + 1 }

    /// Calls `body` with each rule that may lock out clients of an app at a time.
    ///
    /// A rule that has not begun, has ended or reaches nobody is not among them, and under the brake none is: those checks
    /// do not tell which share it locks out where it does.
    ///
    /// - Parameter time: In microseconds since 1970.
    package func forEachLockout(
        ofAppAt place: Int,
        at time: Int64,
        _ body: (_ rule: RuleID, _ key: String, _ bundle: String?, _ hasFuse: Bool) -> Void
    ) {
        guard sendsLockouts else { return }
        let app = place > 0 ? apps[place - 1] : nil
        if app?.isPaused ?? false { return }
        for (index, group) in [(Int32(place - 1), app?.rules), (-1, rulesForEveryApp)] {
            guard let group else { continue }
            for rule in group.lockoutRules where group.mayReachAnybody(group.rules[Int(rule)], at: time) {
                body(RuleID(app: index, index: rule), group.rows[Int(rule)].key, app?.bundle, group.hasFuse(rule))
            }
        }
    }
}

extension RuleGroup {
    fileprivate func hasFuse(_ rule: UInt32) -> Bool { rows[Int(rule)].fuse != nil }

    /// The times at which a lockout begins, ends or goes on: between two of them the same ones may lock out.
    var lockoutTimes: [Int64] {
        lockoutRules.map { rules[Int($0)] }.flatMap { rule in
            [rule.startsAt, rule.endsAt] + pools.steps[rule.steps.indices].map(\.at)
        }
    }

    fileprivate func mayReachAnybody(_ rule: CompiledRule, at time: Int64) -> Bool {
        rule.startsAt <= time && time < rule.endsAt && rollout(of: rule, at: time) > 0
    }
}
