package struct PolicyEvent: Sendable, Equatable {
    package enum Kind: String, Sendable {
        case ruleStarts = "rule starts"
        case ruleEnds = "rule ends"
        case rolloutStep = "rollout step"
        case releaseLive = "release live"
        case releaseWithdrawn = "release withdrawn"
    }

    package let at: Timestamp
    package let kind: Kind
    /// The key of the rule, or the app, version and platform of the release.
    package let name: String
    package let rollout: Percentage?

    /// What happens, for people: `rule a goes to 50 %`.
    package var sentence: String {
        switch kind {
        case .ruleStarts: "rule \(name) starts"
        case .ruleEnds: "rule \(name) ends"
        case .rolloutStep: "rule \(name) goes to \(rollout.map { "\($0)" } ?? "?") %"
        case .releaseLive: "release \(name) goes live"
        case .releaseWithdrawn: "release \(name) is withdrawn"
        }
    }
}

extension Policy {
    /// What begins or ends in the 24 hours after a moment, in order of time.
    package func eventsOfNextDay(at now: Timestamp) -> [PolicyEvent] {
        let end = now.advanced(byMicroseconds: 86_400_000_000)
        var events: [PolicyEvent] = []
        func add(_ time: Timestamp?, _ kind: PolicyEvent.Kind, _ name: String, _ rollout: Percentage? = nil) {
            guard let time, now < time, time <= end else { return }
            events.append(PolicyEvent(at: time, kind: kind, name: name, rollout: rollout))
        }
        for rule in rules where rule.enabled {
            add(rule.startsAt, .ruleStarts, rule.key)
            add(rule.endsAt, .ruleEnds, rule.key)
            for step in rule.effectiveSteps { add(step.at, .rolloutStep, rule.key, step.rollout) }
        }
        for release in releases {
            let name = "\(release.bundle) \(release.version) \(release.platform)"
            let state = release.state(at: now)
            if case .comes(let live) = state { add(live, .releaseLive, name) }
            // One that is withdrawn before it is live is so already.
            if case .withdrawn = state { continue }
            add(release.withdrawnAt, .releaseWithdrawn, name)
        }
        return events.sorted { ($0.at, $0.kind.rawValue, $0.name) < ($1.at, $1.kind.rawValue, $1.name) }
    }
}
