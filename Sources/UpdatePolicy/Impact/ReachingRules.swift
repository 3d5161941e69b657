// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// The rules of one policy that may match clients of one kind, at any time and with any uncounted members.
struct ReachingRules {
    private let client: Client
    private let app: CompiledApp?
    private let platform: Int32
    private let candidates: [Candidate]

    /// A rule whose conditions on counted members are met.
    private struct Candidate {
        let group: RuleGroup
        let number: Int
        let facts: CheckFacts

        var rule: CompiledRule { group.rules[number] }
        var row: Rule { group.rows[number] }
    }

    init(_ policy: CompiledPolicy, _ client: Client) {
        self.client = client
        app = policy.app(of: client)
        platform = policy.platformNumbers.number(of: client)
        guard app?.isPaused != true else {
            candidates = []
            return
        }
        var candidates: [Candidate] = []
        for group in [app?.rules, policy.rulesForEveryApp] {
            guard let group else { continue }
            let facts = CheckFacts(client, platform: platform, time: 0, on: group.scales)
            for number in group.rules.indices where group.rules[number].flags.contains(.enabled) {
                if group.firstUnmetFact(group.rules[number], facts) == nil {
                    candidates.append(Candidate(group: group, number: number, facts: facts))
                }
            }
        }
        self.candidates = candidates.sorted { Rule.precedes($0.row, $1.row) }
    }

    /// Whether some rule may lock these clients out at some time.
    var mayLockOut: Bool {
        candidates.contains { $0.rule.flags.contains(.lockout) }
    }

    /// The rules that are met at a time, in the order of their messages, none behind one that is final for everybody.
    func rules(at time: Timestamp) -> [RuleReach] {
        let time = time.microsecondsSince1970
        var rules: [RuleReach] = []
        var offers = OfferSearch(.lenient)
        var waysOut = OfferSearch(.strict)
        for candidate in candidates {
            let group = candidate.group
            let rule = candidate.rule
            let share = Int(group.rollout(of: rule, at: time))
            guard share > 0,
                group.firstUnmetOccasion(rule, client, candidate.facts, app, at: time, &offers) == nil
            else { continue }
            let reach = RuleReach(
                rule: candidate.row,
                delivery: delivery(candidate, time, &waysOut),
                share: share,
                isConditional: !candidate.row.uncountedConditions.isEmpty,
                isFinal: rule.flags.contains(.final)
            )
            rules.append(reach)
            if reach.isFinal, reach.isCertain { break }
        }
        return rules
    }

    private func delivery(_ candidate: Candidate, _ time: Int64, _ waysOut: inout OfferSearch) -> RuleReach.Delivery {
        guard candidate.rule.flags.contains(.lockout) else { return .message }
        let isLockedOut = candidate.group.isLockedOut(by: candidate.number, client, app, platform, time, &waysOut)
        return isLockedOut ? .lockout : .withoutWayOut
    }

    /// Adds every time at which these clients may get something else.
    func addMoments(to moments: inout Set<Int64>) {
        for candidate in candidates {
            let rule = candidate.rule
            moments.insert(rule.startsAt)
            moments.insert(rule.endsAt)
            for step in candidate.group.pools.steps[rule.steps.indices] { moments.insert(step.at) }
            guard rule.flags.contains(.hasTarget) || rule.flags.contains(.needsWayOut) else { continue }
            guard let app, let list = app.releaseList(onPlatform: platform) else { continue }
            for release in app.releases[list].releases {
                let (soaked, overflow) = release.liveAt.addingReportingOverflow(rule.soak)
                if !overflow { moments.insert(soaked) }
                moments.insert(release.withdrawnAt)
            }
        }
    }
}
