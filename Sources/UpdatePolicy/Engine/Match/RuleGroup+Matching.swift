extension RuleGroup {
    /// Appends the rules that a client meets, in order, each once.
    func appendMatches(
        _ client: borrowing Client,
        _ app: CompiledApp?,
        _ platform: Int32,
        _ time: Int64,
        _ offers: inout OfferSearch,
        appIndex: Int32,
        to matched: inout [SentRule]
    ) {
        let facts = CheckFacts(client, platform: platform, time: time, on: scales)
        var candidates = IndexList()
        appendCandidates(for: client, facts, to: &candidates)
        let start = matched.count
        if hasLongLists || client.attributeCount > 2 && !rulesByValue.isEmpty {
            dropFarCandidates(client, facts, app, &offers, from: &candidates)
        }
        for index in 0..<candidates.count {
            let rule = candidates[index]
            if firstUnmetCondition(of: Int(rule), by: client, facts, app, &offers) == nil {
                matched.append(SentRule(id: RuleID(app: appIndex, index: rule)))
            }
        }
        if matched.count > start + 1 { Self.order(&matched, from: start) }
    }

    /// Drops candidates that are not sent for another reason than their attributes and languages, or for what is found of
    /// these by hashes: so they are compared one by one only for what is sent.
    @inline(never)
    private func dropFarCandidates(
        _ client: borrowing Client,
        _ facts: CheckFacts,
        _ app: CompiledApp?,
        _ offers: inout OfferSearch,
        from candidates: inout IndexList
    ) {
        // How many attributes of a rule have a value that it accepts, and whether a long list has the language; where hashes
        // are equal by chance, it is more than that.
        var found = [UInt16](repeating: 0, count: rules.count)
        let languageFound: UInt16 = 1 << 15
        client.forEachAttribute { name, value in
            let hash = HashIndex.hash(attribute: name, value: value, seed: pools.hashSeed)
            rulesByValue.forEachRule(hash) { found[Int($0)] &+= 1 }
        }
        if let language = client.language {
            HashIndex.forEachRange(of: language, seed: pools.hashSeed) { hash in
                rulesByValue.forEachRule(hash) { found[Int($0)] |= languageFound }
            }
        }
        var near = IndexList()
        for index in 0..<candidates.count {
            let number = Int(candidates[index])
            let rule = rules[number]
            if !rule.attributes.isEmpty || rule.languages.isLong {
                guard UInt32(found[number] & ~languageFound) >= rule.attributes.count,
                    !rule.languages.isLong || found[number] >= languageFound,
                    firstUnmetFact(rule, facts) == nil,
                    firstUnmetOccasion(rule, client, facts, app, &offers) == nil,
                    isInRollout(number, client, at: facts.time)
                else { continue }
            }
            near.append(candidates[index])
        }
        candidates = near
    }

    /// Sorts the rules from an index on, and drops those that were found twice.
    private static func order(_ matched: inout [SentRule], from start: Int) {
        matched[start...].sort { $0.id.index < $1.id.index }
        var end = start + 1
        for index in (start + 1)..<matched.count where matched[index].id != matched[end - 1].id {
            matched[end] = matched[index]
            end += 1
        }
        matched.removeSubrange(end...)
    }

    /// The first condition of a rule, in the order of judgement, that a check does not meet; `nil` where it meets all.
    func firstUnmetCondition(
        of index: Int,
        by client: borrowing Client,
        _ facts: CheckFacts,
        _ app: CompiledApp?,
        _ offers: inout OfferSearch
    ) -> Condition? {
        let rule = rules[index]
        if let condition = firstUnmetFact(rule, facts) { return condition }
        if !rule.languages.isEmpty, !holdsLanguage(rule, client) { return .languages }
        if !rule.attributes.isEmpty, firstUnmetAttribute(rule, client) != nil { return .attributes }
        if let condition = firstUnmetOccasion(rule, client, facts, app, &offers) { return condition }
        if !isInRollout(index, client, at: facts.time) { return .rollout }
        if !rule.flags.contains(.enabled) { return .enabled }
        if let app, app.isPaused { return .paused }
        return nil
    }

    /// The first condition on what a client is, in the order of judgement, that is not met.
    @inline(__always)
    private func firstUnmetFact(_ rule: CompiledRule, _ facts: CheckFacts) -> Condition? {
        if !rule.platforms.isEmpty, !holds(rule.platforms, platform: facts.platform) { return .platforms }
        if !rule.versions.isEmpty, !holds(rule.versions, facts.versionRank) { return .versions }
        if !rule.builds.isEmpty, !holds(rule.builds, facts.buildRank) { return .builds }
        if !rule.os.isEmpty, !holds(rule.os, facts.osRank) { return .os }
        if !rule.regions.isEmpty, !pools.regions.holds(facts.region, in: rule.regions) { return .regions }
        return nil
    }

    /// The first condition that changes with time, the rollout apart, that is not met.
    @inline(__always)
    func firstUnmetOccasion(
        _ rule: CompiledRule,
        _ client: borrowing Client,
        _ facts: CheckFacts,
        _ app: CompiledApp?,
        _ offers: inout OfferSearch
    ) -> Condition? {
        if rule.flags.contains(.hasTarget) {
            if facts.versionRank >= rule.targetRank { return .target }
            if !isTargetOffered(rule, client, facts.platform, app, at: facts.time, &offers) { return .target }
        }
        if facts.time < rule.startsAt { return .startsAt }
        if facts.time >= rule.endsAt { return .endsAt }
        return nil
    }

    /// Whether a client meets a condition of a rule, releases and the app apart; one that the rule does not have is met.
    ///
    /// A check asks ``firstUnmetCondition(of:by:_:_:_:)``, which has the same tests in their order for fewer instructions.
    func meets(
        _ condition: Condition,
        _ rule: CompiledRule,
        _ index: Int,
        _ client: borrowing Client,
        _ facts: CheckFacts
    ) -> Bool {
        switch condition {
        case .platforms: rule.platforms.isEmpty || holds(rule.platforms, platform: facts.platform)
        case .versions: rule.versions.isEmpty || holds(rule.versions, facts.versionRank)
        case .builds: rule.builds.isEmpty || holds(rule.builds, facts.buildRank)
        case .os: rule.os.isEmpty || holds(rule.os, facts.osRank)
        case .regions: rule.regions.isEmpty || pools.regions.holds(facts.region, in: rule.regions)
        case .languages: rule.languages.isEmpty || holdsLanguage(rule, client)
        case .attributes: rule.attributes.isEmpty || firstUnmetAttribute(rule, client) == nil
        case .target: !rule.flags.contains(.hasTarget) || facts.versionRank < rule.targetRank
        case .startsAt: rule.startsAt <= facts.time
        case .endsAt: facts.time < rule.endsAt
        case .rollout: isInRollout(index, client, at: facts.time)
        case .enabled: rule.flags.contains(.enabled)
        case .paused: true
        }
    }

    @inline(__always)
    private func holds(_ intervals: PoolRange, _ rank: UInt32) -> Bool {
        if intervals.isLong { return holdsInMany(intervals, rank) }
        for index in intervals.indices where pools.intervals[index].contains(rank) { return true }
        return false
    }

    private func holdsInMany(_ intervals: PoolRange, _ rank: UInt32) -> Bool {
        let next = intervals.indices.partitioningIndex { rank < pools.intervals[$0].lower }
        return next > intervals.indices.lowerBound && pools.intervals[next - 1].contains(rank)
    }

    @inline(__always)
    private func holds(_ platforms: PoolRange, platform: Int32) -> Bool {
        for index in platforms.indices where pools.platforms[index] == platform { return true }
        return false
    }

    private func holdsLanguage(_ rule: CompiledRule, _ client: borrowing Client) -> Bool {
        guard let language = client.language else { return false }
        for index in rule.languages.indices where language.matches(pools.languages[index]) { return true }
        return false
    }

    /// The index of the first attribute, by name, that the client does not have as the rule asks.
    func firstUnmetAttribute(_ rule: CompiledRule, _ client: borrowing Client) -> Int? {
        for index in rule.attributes.indices {
            let isMet = client.withAttribute(pools.attributes[index].name) { value in
                pools.attributes[index].values.contains { $0.string.withBytes { $0.hasSameBytes(as: value) } }
            }
            if isMet != true { return index }
        }
        return nil
    }

    private func isTargetOffered(
        _ rule: CompiledRule,
        _ client: borrowing Client,
        _ platform: Int32,
        _ app: CompiledApp?,
        at time: Int64,
        _ offers: inout OfferSearch
    ) -> Bool {
        guard let app, let list = app.releaseList(onPlatform: platform),
            let offer = offers.offer(among: app.releases[list], to: client, at: time, soak: rule.soak)
        else { return false }
        return !(app.releases[list].releases[offer].version < pools.targets[Int(rule.target)])
    }

    /// The rollout of a rule that is in force at a time, in hundredths of a percent.
    func rollout(of rule: CompiledRule, at time: Int64) -> UInt16 {
        if rule.steps.isEmpty { return rule.rollout }
        let next = rule.steps.indices.partitioningIndex { time < pools.steps[$0].at }
        return next > rule.steps.indices.lowerBound ? pools.steps[next - 1].rollout : rule.rollout
    }

    private func isInRollout(_ index: Int, _ client: borrowing Client, at time: Int64) -> Bool {
        let rollout = rollout(of: rules[index], at: time)
        if rollout >= 10_000 { return true }
        if rollout == 0 { return false }
        return client.withText(.install) { Bucket(key: rows[index].key, install: $0).number < Int(rollout) } ?? false
    }

    func isLockedOut(
        by index: Int,
        _ client: borrowing Client,
        _ app: CompiledApp?,
        _ platform: Int32,
        _ time: Int64,
        _ waysOut: inout OfferSearch
    ) -> Bool {
        guard rules[index].flags.contains(.needsWayOut) else { return true }
        if case .open = wayOut(of: rules[index], client, app, platform, time, &waysOut) { return true }
        return false
    }

    func wayOut(
        of rule: CompiledRule,
        _ client: borrowing Client,
        _ app: CompiledApp?,
        _ platform: Int32,
        _ time: Int64,
        _ waysOut: inout OfferSearch
    ) -> WayOut {
        guard let app, let list = app.releaseList(onPlatform: platform),
            let offer = waysOut.offer(among: app.releases[list], to: client, at: time, soak: rule.soak)
        else { return .noOffer }
        let release = app.releases[list].releases[offer]
        guard release.isAbove(client) else { return .notAbove(offer) }
        return matches(rule, release) ? .matches(offer) : .open(offer)
    }

    /// Whether a rule that a client meets would also be met with a release in place of what the client has.
    func matches(_ rule: CompiledRule, _ release: some NumberedRelease) -> Bool {
        let rank = scales.versions.rank(of: release.version)
        if !rule.versions.isEmpty, !holds(rule.versions, rank) { return false }
        if !rule.builds.isEmpty, let build = release.build, !holds(rule.builds, scales.builds.rank(of: build)) {
            return false
        }
        return !rule.flags.contains(.hasTarget) || rank < rule.targetRank
    }
}

/// What a check compares rules with: the client in the terms of one group of rules, and the time.
struct CheckFacts {
    var time: Int64
    /// The number of the client's platform; -1 where it sent none, or none that the policy knows.
    let platform: Int32
    /// The letters of the client's region; 0 for none.
    let region: UInt16
    let versionRank: UInt32
    let buildRank: UInt32
    let osRank: UInt32

    init(_ client: borrowing Client, platform: Int32, time: Int64, on scales: RuleScales) {
        self.time = time
        self.platform = platform
        region = client.region?.letters ?? 0
        versionRank = client.versionKey.map { scales.versions.rank(of: $0) } ?? RankInterval.unreadable
        buildRank = client.buildKey.map { scales.builds.rank(of: $0) } ?? RankInterval.unreadable
        osRank = client.osKey.map { scales.os.rank(of: $0) } ?? RankInterval.unreadable
    }
}

/// Whether a client that a rule locks out could leave the lockout by an update; with the index of the offer.
enum WayOut {
    /// It could, with the offer.
    case open(Int)
    case noOffer
    case notAbove(Int)
    case matches(Int)
}
