import PolicyStore
import UpdatePolicy

/// A rule in words.
struct RuleWords {
    let rule: Rule
    /// Nil where it is not known.
    let status: RuleStatus?
    let now: Timestamp
    /// What it locks out now; nil where that is not known, or where it is no enabled lockout.
    var lockoutShare: LockoutShare?
    /// Whether the server that shows it sends lockouts; false under its brake.
    var sendsLockouts = true
    /// Its fuse; nil where there is none, or where it cannot be read.
    var fuse: FuseStatus?

    /// All of it in the order in which it matters, each as what it is about and what it says.
    var lines: [JSONValue] {
        let link = rule.link.map { link in
            link == Rule.storeLink ? "the app's link to the store of the client's platform" : link
        }
        let lines: [(term: String, text: String?)] = [
            ("Status", statusSentence), ("Who", rule.who),
            ("Ranges", ranges.isEmpty ? nil : ranges.joined(separator: "; ")), ("Effect", effect),
            ("Locked out now", lockedOutNow),
            ("Fuse", rule.fuse.map { fuse(of: $0) }), ("How many", share),
            ("When", rule.startsAt == nil && rule.endsAt == nil ? nil : period), ("Link", link),
            ("Shown", rule.hints?.sentence),
            (
                "Order",
                "Position \(rule.position)." + (rule.final ? " When it is sent, no message comes after it." : "")
            ),
        ]
        return lines.compactMap { term, text in text.map { ["term": term, "text": $0] } }
    }

    /// The status as every page shows it: its name, the class that gives the colour, and why it is so; nil: not known.
    var tag: JSONValue? {
        guard let status else { return nil }
        if isBraked {
            return ["text": "brake", "kind": "part", "reason": "on, and sent as a plain message by this server"]
        }
        let kind =
            switch status.name {
            case .disabled, .ended: "off"
            case .on: rule.lockout ? "lockout" : "on"
            case .partlyWithoutLockout: "lockout"
            case .paused, .scheduled, .waiting, .hidden, .onWithoutLockout: "part"
            }
        return [
            "text": status.name.rawValue, "kind": kind, "reason": status.reason.map { PageScene.words.sentence($0) },
        ]
    }

    /// Whether it would lock out, were the server not under its brake.
    private var isBraked: Bool { !sendsLockouts && status?.locksOut(rule) ?? false }

    private var lockedOutNow: String? {
        guard rule.enabled, rule.lockout, let share = lockoutShare else { return nil }
        let since = share.change.map { " Since \($0.sentence(at: now))." } ?? ""
        if isBraked { return "Nobody by this server: its brake is on." }
        return share.checks == 0
            ? "No checks were counted since it is what it is, or in the last 10 minutes.\(since)"
            : "\(NumberText.share(share.lockouts, ofChecks: share.checks)) of the last 10 minutes.\(since)"
    }

    private var statusSentence: String? {
        guard let status else { return nil }
        if isBraked { return "On, but the brake is on: this server sends it as a plain message, without the lockout." }
        let reason = status.reason.map { ": \(PageScene.words.sentence($0))" } ?? ""
        let next = status.next.map { " It changes at \(NumberText.minute($0))." } ?? ""
        return "\(status.name.rawValue.prefix(1).uppercased())\(status.name.rawValue.dropFirst())\(reason).\(next)"
    }

    /// What the ranges mean.
    private var ranges: [String] {
        [("version", rule.versions), ("build", rule.builds), ("system", rule.os)].compactMap { name, text in
            text.flatMap { text in VersionRange(text).map { "\(name) \(text) is \($0.inWords)" } }
        }
    }

    private var effect: String {
        let soak = rule.soak.map { " that has been live for \($0)" } ?? ""
        let offer = rule.target.map { ", once they can get a release\(soak) that reaches \($0)" } ?? ""
        guard rule.lockout else { return "They get the message\(offer)." }
        return rule.lockoutWithoutUpdate
            ? "They are locked out\(offer), also where there is no update for them."
            : "They are locked out\(offer). Clients without an update to go to get the message, and are not locked out."
    }

    private func fuse(of percentage: Percentage) -> String {
        "Where it locks out more than \(percentage) % of the checks of an app in 10 minutes, its lockout is taken away, or its ramp held."
            + (fuse.map { " \($0.sentence)" } ?? "")
    }

    private var share: String {
        let rollout = rule.rollout(at: now)
        let present = rollout == .all ? "All of them" : "\(rollout) % of the installs"
        guard !rule.steps.isEmpty else { return "\(present)." }
        if let since = rule.holdInForce(at: now) {
            return "\(present), held there since \(NumberText.minute(since))."
        }
        let coming = rule.effectiveSteps.filter { $0.at > now }.map {
            "\($0.rollout) % from \(NumberText.minute($0.at))"
        }
        return coming.isEmpty ? "\(present)." : "\(present) now, then \(coming.joined(separator: ", then "))."
    }

    private var period: String {
        let start = rule.startsAt.map { "From \(NumberText.minute($0))" }
        let end = rule.endsAt.map { "\(start == nil ? "Until" : "until") \(NumberText.minute($0))" }
        return [start, end].compactMap(\.self).joined(separator: " ") + "."
    }
}
