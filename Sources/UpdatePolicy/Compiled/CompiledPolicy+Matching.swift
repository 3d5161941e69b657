// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

extension CompiledPolicy {
    /// The app that a client names, if the policy has anything about it.
    @inline(__always)
    func app(of client: borrowing Client) -> CompiledApp? {
        guard let bundle = client.bundle, let number = bundle.string.withBytes({ appNumbers.number(of: $0) }) else {
            return nil
        }
        return apps[number]
    }

    /// The rules whose messages a client gets, in order, and which of them lock it out.
    func sentRules(_ client: borrowing Client, _ app: CompiledApp?, at time: Int64) -> [SentRule] {
        if let app, app.isPaused { return [] }
        let platform = platformNumbers.number(of: client.platformText)
        var sent: [SentRule] = []
        if let group = app?.rules { collect(group, client, app, platform, time, into: &sent) }
        if let group = rulesForEveryApp { collect(group, client, app, platform, time, into: &sent) }
        if sent.isEmpty { return sent }
        if sent.count > 1 { sent = Self.ordered(sent) }
        for place in sent.indices {
            let flags = rules[sent[place].index].flags
            if flags.contains(.lockout) {
                sent[place].lockout = isLockedOut(sent[place].index, client, app, platform, time)
            }
            if flags.contains(.final) {
                sent.removeSubrange((place + 1)...)
                break
            }
        }
        return sent
    }

    private static func ordered(_ matched: [SentRule]) -> [SentRule] {
        var ordered: [SentRule] = []
        ordered.reserveCapacity(matched.count)
        for rule in matched.sorted(by: { $0.index < $1.index }) where ordered.last?.index != rule.index {
            ordered.append(rule)
        }
        return ordered
    }

    private func collect(
        _ group: RuleGroup,
        _ client: borrowing Client,
        _ app: CompiledApp?,
        _ platform: Int32,
        _ time: Int64,
        into matched: inout [SentRule]
    ) {
        let facts = CheckFacts(client, platform: platform, time: time, on: group.scales)
        var candidates = RuleNumbers()
        group.appendCandidates(for: client, facts, to: &candidates)
        for place in 0..<candidates.count {
            let number = Int(candidates[place])
            if firstUnmetCondition(of: number, by: client, facts, app) == nil {
                matched.append(SentRule(index: number, lockout: false))
            }
        }
    }

    /// The first condition of a rule, in the order of judgement, that a check does not meet; `nil` where it meets all.
    func firstUnmetCondition(
        of number: Int,
        by client: borrowing Client,
        _ facts: CheckFacts,
        _ app: CompiledApp?
    ) -> Condition? {
        let rule = rules[number]
        if !rule.platforms.isEmpty, !holds(rule.platforms, platform: facts.platform) { return .platforms }
        if !rule.versions.isEmpty, !holds(rule.versions, facts.versionRank) { return .versions }
        if !rule.builds.isEmpty, !holds(rule.builds, facts.buildRank) { return .builds }
        if !rule.os.isEmpty, !holds(rule.os, facts.osRank) { return .os }
        if !rule.regions.isEmpty, !holds(rule.regions, region: facts.region) { return .regions }
        if !rule.languages.isEmpty, !holdsLanguage(rule, client) { return .languages }
        if !rule.attributes.isEmpty, firstUnmetAttribute(rule, client) != nil { return .attributes }
        if rule.flags.contains(.hasTarget) {
            if facts.versionRank >= rule.targetRank { return .targetReached }
            if !isTargetOffered(rule, client, facts, app) { return .targetNotOffered }
        }
        if facts.time < rule.startsAt { return .startsAt }
        if facts.time >= rule.endsAt { return .endsAt }
        if !isInRollout(number, client, at: facts.time) { return .rollout }
        if !rule.flags.contains(.enabled) { return .enabled }
        if let app, app.isPaused { return .paused }
        return nil
    }

    @inline(__always)
    private func holds(_ intervals: PoolRange, _ rank: UInt32) -> Bool {
        for index in intervals.indices where pools.intervals[index].contains(rank) { return true }
        return false
    }

    @inline(__always)
    private func holds(_ platforms: PoolRange, platform: Int32) -> Bool {
        for index in platforms.indices where pools.platforms[index] == platform { return true }
        return false
    }

    @inline(__always)
    private func holds(_ regions: PoolRange, region: UInt16) -> Bool {
        for index in regions.indices where pools.regions[index] == region { return true }
        return false
    }

    private func holdsLanguage(_ rule: CompiledRule, _ client: borrowing Client) -> Bool {
        guard let language = client.language else { return false }
        for index in rule.languages.indices where language.matches(pools.languages[index]) { return true }
        return false
    }

    /// The place of the first attribute, by name, that the client does not have as the rule asks.
    func firstUnmetAttribute(_ rule: CompiledRule, _ client: borrowing Client) -> Int? {
        for index in rule.attributes.indices {
            guard let value = client.attribute(pools.attributes[index].name),
                pools.attributes[index].values.contains(value)
            else { return index }
        }
        return nil
    }

    private func isTargetOffered(
        _ rule: CompiledRule,
        _ client: borrowing Client,
        _ facts: CheckFacts,
        _ app: CompiledApp?
    ) -> Bool {
        guard let app, let list = app.releaseList(onPlatform: facts.platform),
            let offer = app.releases[list].offer(to: client, at: facts.time, soak: rule.soak, .lenient)
        else { return false }
        return !(app.releases[list].releases[offer].version < pools.targets[Int(rule.target)])
    }

    /// The rollout of a rule that is in force at a time, in hundredths of a percent.
    func rollout(of rule: CompiledRule, at time: Int64) -> UInt16 {
        for index in rule.steps.indices.reversed() where pools.steps[index].at <= time {
            return pools.steps[index].rollout
        }
        return rule.rollout
    }

    private func isInRollout(_ number: Int, _ client: borrowing Client, at time: Int64) -> Bool {
        let rollout = rollout(of: rules[number], at: time)
        if rollout >= 10_000 { return true }
        guard rollout > 0, let install = client.install else { return false }
        return Bucket(key: policy.rules[number].key, install: install).number < Int(rollout)
    }

    private func isLockedOut(
        _ number: Int,
        _ client: borrowing Client,
        _ app: CompiledApp?,
        _ platform: Int32,
        _ time: Int64
    ) -> Bool {
        guard rules[number].flags.contains(.needsWayOut) else { return true }
        if case .open = wayOut(of: rules[number], client, app, platform, time) { return true }
        return false
    }

    /// Whether a client could leave the lockout of a rule that it meets.
    func wayOut(
        of rule: CompiledRule,
        _ client: borrowing Client,
        _ app: CompiledApp?,
        _ platform: Int32,
        _ time: Int64
    ) -> WayOut {
        guard let app, let list = app.releaseList(onPlatform: platform),
            let offer = app.releases[list].offer(to: client, at: time, soak: rule.soak, .strict)
        else { return .noOffer }
        let release = app.releases[list].releases[offer]
        guard release.isAbove(client) else { return .notAbove(offer) }
        return matches(rule, release, app) ? .matches(offer) : .open(offer)
    }

    /// Whether a rule that a client meets would also be met with a release in place of what the client has.
    private func matches(_ rule: CompiledRule, _ release: CompiledRelease, _ app: CompiledApp) -> Bool {
        guard let scales = (rule.app < 0 ? rulesForEveryApp : app.rules)?.scales else { return false }
        let rank = scales.versions.rank(of: release.version)
        if !rule.versions.isEmpty, !holds(rule.versions, rank) { return false }
        if !rule.builds.isEmpty, let build = release.build, !holds(rule.builds, scales.builds.rank(of: build)) {
            return false
        }
        return !rule.flags.contains(.hasTarget) || rank < rule.targetRank
    }
}
