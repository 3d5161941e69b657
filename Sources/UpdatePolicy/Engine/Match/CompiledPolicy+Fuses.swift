// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

extension CompiledPolicy {
    /// How many rules have a fuse that can blow: enabled lockouts of apps that are not paused.
    package var armedFuseCount: Int {
        apps.reduce(rulesForEveryApp?.fusedRules.count ?? 0) { sum, app in
            sum + (app.isPaused ? 0 : app.rules?.fusedRules.count ?? 0)
        }
    }

    /// Calls `body` with each rule that has a fuse and could have locked out the client of an answer at that time.
    ///
    /// A rule that has not begun, has ended or reaches nobody is not among them, and under the brake none is: those checks
    /// do not tell which share it locks out where it does.
    ///
    /// - Parameters:
    ///   - answer: One that this policy wrote.
    ///   - time: The time for which it did.
    ///   - body: Gets the rule and whether it locked the client out.
    package func forEachFuse(
        of answer: borrowing Answer,
        at time: Timestamp,
        _ body: (RuleID, _ isLockedOut: Bool) -> Void
    ) {
        guard sendsLockouts else { return }
        let time = time.microsecondsSince1970
        var groups: [(app: Int32, group: RuleGroup)] = []
        if answer.appIndex >= 0 {
            let app = apps[Int(answer.appIndex)]
            if app.isPaused { return }
            if let group = app.rules { groups.append((answer.appIndex, group)) }
        }
        if let group = rulesForEveryApp { groups.append((-1, group)) }
        for (app, group) in groups {
            for index in group.fusedRules where group.mayReachAnybody(group.rules[Int(index)], at: time) {
                let id = RuleID(app: app, index: index)
                var isLockedOut = false
                for sent in answer.sent where sent.id == id { isLockedOut = sent.lockout }
                body(id, isLockedOut)
            }
        }
    }
}

extension RuleGroup {
    fileprivate func mayReachAnybody(_ rule: CompiledRule, at time: Int64) -> Bool {
        rule.startsAt <= time && time < rule.endsAt && rollout(of: rule, at: time) > 0
    }
}
