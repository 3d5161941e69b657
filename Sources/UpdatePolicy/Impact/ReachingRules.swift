/// The rules of one policy that may match clients of one kind, at any time and with any uncounted members.
struct ReachingRules {
    private let client: Client
    private let app: CompiledApp?
    private let platform: Int32
    private let candidates: [Candidate]

    private struct Candidate {
        let group: RuleGroup
        let index: Int
        let facts: CheckFacts
        /// What it asks for that is not counted.
        let demands: [Condition: PolicyValue]

        var rule: CompiledRule { group.rules[index] }
        var row: Rule { group.rows[index] }
    }

    init(_ policy: CompiledPolicy, _ client: Client) {
        self.client = client
        app = policy.app(of: client)
        platform = policy.platformNumbers.number(of: client)
        let asker = PartialClient(counted: client)
        var candidates: [Candidate] = []
        for group in app?.isPaused == true ? [] : [app?.rules, policy.rulesForEveryApp] {
            guard let group else { continue }
            let facts = CheckFacts(client, platform: platform, time: 0, on: group.scales)
            for index in group.rules.indices where group.rules[index].flags.contains(.enabled) {
                let verdict = group.verdict(Condition.onClients, of: index, asker, facts)
                if verdict == .unmet { continue }
                let row = group.rows[index]
                let demands = verdict == .met ? [] : Condition.uncounted.subtracting([.rollout])
                candidates.append(
                    Candidate(
                        group: group,
                        index: index,
                        facts: facts,
                        demands: Dictionary(uniqueKeysWithValues: demands.map { ($0, $0.value(in: row)) })
                            .filter { $0.value != .null }
                    )
                )
            }
        }
        self.candidates = candidates.sorted { Rule.precedes($0.row, $1.row) }
    }

    var mayLockOut: Bool {
        candidates.contains { $0.rule.flags.contains(.lockout) }
    }

    /// The rules that are met at a time, in the order of their messages, none behind one that is final for everybody.
    func rules(at time: Timestamp) -> [RuleReach] {
        let time = time.microsecondsSince1970
        var rules: [RuleReach] = []
        var offers = OfferSearch(.pass)
        var waysOut = OfferSearch(.fail)
        for candidate in candidates {
            let group = candidate.group
            let share = Int(group.rollout(of: candidate.rule, at: time))
            var facts = candidate.facts
            facts.time = time
            guard share > 0,
                group.firstUnmetOccasion(candidate.rule, client, facts, app, &offers) == nil
            else { continue }
            let reach = RuleReach(
                rule: candidate.row, delivery: delivery(candidate, time, &waysOut), share: share,
                demands: candidate.demands, isFinal: candidate.rule.flags.contains(.final)
            )
            rules.append(reach)
            if reach.isFinal, reach.isCertain { break }
        }
        return rules
    }

    private func delivery(_ candidate: Candidate, _ time: Int64, _ waysOut: inout OfferSearch) -> RuleReach.Delivery {
        guard candidate.rule.flags.contains(.lockout) else { return .message }
        let isLockedOut = candidate.group.isLockedOut(by: candidate.index, client, app, platform, time, &waysOut)
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

/// A rule that reaches the clients of one kind at one time, judged by the counted conditions.
struct RuleReach {
    enum Delivery: Equatable {
        case message
        case lockout
        /// The message of a lockout without the lockout, because there is no way out.
        case withoutWayOut
    }

    let rule: Rule
    let delivery: Delivery

    /// The rollout, in hundredths of a percent; above 0.
    let share: Int

    /// What the rule asks for that is not counted.
    let demands: [Condition: PolicyValue]
    let isFinal: Bool
    var isCertain: Bool { share == 10_000 && demands.isEmpty }

    /// The largest part of the kind that is reached, 0 to 1.
    var most: Double { Double(share) / 10_000 }

    /// The least part of the kind that is reached, 0 to 1.
    var least: Double { demands.isEmpty ? most : 0 }

    var uncounted: Set<Condition> { Set(demands.keys).union(share < 10_000 ? [.rollout] : []) }
}
