package import PolicyStore
package import UpdatePolicy

/// A rule with what is so about it now, for reports.
package struct PresentRule: Sendable {
    package let rule: Rule
    /// nil: not known.
    package let status: RuleStatus?
    /// What it locks out now; nil: not known, or it is no enabled lockout.
    package let share: LockoutShare?
    /// Whether lockouts are sent as such; false under a brake.
    package let sendsLockouts: Bool

    package init(_ rule: Rule, _ status: RuleStatus?, share: LockoutShare? = nil, sendsLockouts: Bool = true) {
        (self.rule, self.status, self.share, self.sendsLockouts) = (rule, status, share, sendsLockouts)
    }

    /// Whether it would lock out, were it not for the brake.
    var isBraked: Bool { !sendsLockouts && status?.locksOut(rule) ?? false }

    package var tag: Sentence {
        guard let status else { return "not known" }
        // Red is what has risen, as on the overview.
        let hasRisen = share?.hasRisen ?? false
        let tone: Tone =
            switch status.name {
            case .disabled, .ended: .off
            case .on: hasRisen ? .alert : .good
            case .partlyWithoutLockout: hasRisen ? .alert : .part
            case .onWithoutLockout, .paused, .scheduled, .waiting, .hidden: .part
            }
        return isBraked ? "\("brake", .part)" : "\(status.name.rawValue, tone)"
    }

    /// Why it is not plainly on.
    package var reason: Sentence? { isBraked ? "on, and sent as a plain message by this server" : status?.reason }

    /// What it locks out now, where it is an enabled lockout.
    var shareText: String? { rule.enabled && rule.lockout ? share.map(\.text) : nil }
}

extension Report {
    /// Rules in the order of their messages, perhaps those of one app, with what they sent to it in the last day.
    package static func rules(_ rules: [PresentRule], ofApp: Bool, _ lastDay: LastDay?, at now: Timestamp) -> Table {
        // What a rule for every app was sent is not told app by app.
        @Sendable func share(_ rule: Rule, _ count: Int64) -> String {
            guard let checks = lastDay?.checks else { return "-" }
            if rule.bundle == nil { return "\(NumberText.count(count)), all apps" }
            return checks > 0 ? NumberText.share(Double(min(checks, count)), of: Double(checks)) : "no checks"
        }
        let columns: [Column<PresentRule>?] = [
            Column("Rule", isName: true) { .sentence("\($0.rule.key, .rule($0.rule.key)) \(aside: $0.rule.title)") },
            ofApp ? nil : Column("Locked out now") { .figure($0.shareText) },
            !ofApp
                ? nil
                : Column("Got the message") { .figure(share($0.rule, lastDay?.rules[$0.rule.key]?.sent ?? 0)) },
            !ofApp
                ? nil
                : Column("Locked out") {
                    .figure($0.rule.lockout ? share($0.rule, lastDay?.rules[$0.rule.key]?.lockouts ?? 0) : nil)
                },
            Column("Status") { present in
                let everyApp = tag("every app", if: ofApp && present.rule.bundle == nil)
                return .sentence("\(present.tag)\(tag("lockout", if: present.rule.lockout))\(everyApp)")
            },
            Column("Why") { .sentence($0.reason) }, ofApp ? nil : Column("App") { .sentence(app($0.rule.bundle)) },
            Column("Who") { .text($0.rule.audience) }, Column("Rollout") { .percentage($0.rule.rollout(at: now)) },
        ]
        return Table(
            caption: ofApp ? "Shares are those of this app's checks in the last 24 hours." : nil,
            ifEmpty: "There is no rule. To add one: \(command: "rule add --help")", rules,
            columns: columns.compactMap(\.self)
        )
    }

    /// A tag behind a word, if a condition holds.
    package static func tag(_ word: String, if condition: Bool, _ tone: Tone = .plain) -> Sentence {
        condition ? " \(word, tone)" : ""
    }

    /// A rule in words, in the order in which it matters.
    package static func fields(_ present: PresentRule, fuse: FuseStatus?, note: String?, at now: Timestamp) -> [Field] {
        let rule = present.rule
        let ranges = [("version", rule.versions), ("build", rule.builds), ("system", rule.os)].compactMap {
            name, text in
            text.flatMap { text in VersionRange(text).map { "\(name) \(text) is \($0.inWords)" } }
        }
        let link = rule.link.map { $0 == Rule.storeLink ? "the app's link to the store of the client's platform" : $0 }
        let state = fuse.map { fuse -> Sentence in " \(fuse.sentence)" } ?? ""
        let fuses = rule.fuse.map { percentage -> Sentence in
            "If it locks out more than \(percentage) % of the checks of an app in 10 minutes, its lockout is removed, or its ramp held.\(state)"
        }
        return [
            Field("Status", .sentence(status(present))), Field("Who", .text(rule.who)),
            Field("Ranges", .text(ranges.isEmpty ? nil : ranges.joined(separator: "; "))),
            Field("Effect", .text(effect(rule))), Field("Locked out now", .sentence(lockedOut(present))),
            Field("Fuse", .sentence(fuses)), Field("How many", .sentence(installs(rule, at: now))),
            Field("When", .sentence(period(rule))), Field("Link", .text(link)),
            Field("Shown", .text(rule.hints?.sentence)),
            Field(
                "Order",
                .text("Position \(rule.position).\(rule.final ? " When it is sent, no message comes after it." : "")")
            ), Field("Note", .text(note)),
        ]
    }

    private static func status(_ present: PresentRule) -> Sentence? {
        guard let status = present.status else { return nil }
        if present.isBraked {
            return "On, but the brake is on: this server sends it as a plain message, without the lockout."
        }
        let name = status.name.rawValue
        let reason = status.reason.map { reason -> Sentence in ": \(reason)" } ?? ""
        let next = status.next.map { time -> Sentence in " It changes at \(time: time)." } ?? ""
        return "\(name.prefix(1).uppercased())\(name.dropFirst())\(reason).\(next)"
    }

    private static func lockedOut(_ present: PresentRule) -> Sentence? {
        guard present.rule.enabled, present.rule.lockout, let share = present.share else { return nil }
        if present.isBraked { return "Nobody by this server: its brake is on." }
        let since = share.change.map { change -> Sentence in " Since \(change.sentence)." } ?? ""
        return share.checks == 0
            ? "No checks were counted in the last 10 minutes, or since the rule changed.\(since)"
            : "\(NumberText.share(share.lockouts, ofChecks: share.checks)) of the last 10 minutes.\(since)"
    }

    private static func effect(_ rule: Rule) -> String {
        let soak = rule.soak.map { " that has been live for \($0)" } ?? ""
        let offer = rule.target.map { ", once they can get a release\(soak) that reaches \($0)" } ?? ""
        guard rule.lockout else { return "They get the message\(offer)." }
        return rule.lockoutWithoutUpdate
            ? "They are locked out\(offer), even if there is no update for them."
            : "They are locked out\(offer). Clients that cannot update see the message but are not locked out."
    }

    package static func installs(_ rule: Rule, at now: Timestamp) -> Sentence {
        let rollout = rule.rollout(at: now)
        let present = rollout == .all ? "All of them" : "\(rollout) % of the installs"
        if let since = rule.holdInForce(at: now) { return "\(present), held there since \(time: since)." }
        let coming = rule.effectiveSteps.filter { $0.at > now }
        if coming.isEmpty { return "\(present)." }
        let steps = coming.map { step -> Sentence in "\(step.rollout) % from \(time: step.at)" }
        return "\(present) now, then \(steps.joined(separator: ", then "))."
    }

    private static func period(_ rule: Rule) -> Sentence? {
        switch (rule.startsAt, rule.endsAt) {
        case (nil, nil): nil
        case (let start?, nil): "From \(time: start)."
        case (nil, let end?): "Until \(time: end)."
        case (let start?, let end?): "From \(time: start) until \(time: end)."
        }
    }
}
