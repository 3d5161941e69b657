extension RuleGroup {
    /// Appends the rules that a client meets, in order.
    func appendMatches(
        _ client: borrowing Client,
        _ app: CompiledApp?,
        _ platform: Int32,
        _ time: Int64,
        _ offers: inout Offers?,
        appIndex: Int32,
        to matched: inout [SentRule]
    ) {
        let facts = CheckFacts(client, platform: platform, time: time, on: scales)
        let start = matched.count
        let end = gates.indices.partitioningIndex { gates[$0].last < facts.versionRank }
        for index in 0..<end
        where gates[index].first <= facts.versionRank && gates[index].refused & facts.traits == 0 {
            let rule = gates[index].rule
            if isMet(Int(rule), by: client, facts, app, &offers) {
                matched.append(SentRule(id: RuleID(app: appIndex, index: rule)))
            }
        }
        if client.isManual {
            for rule in rulesOfNobody where isMet(Int(rule), by: client, facts, app, &offers) {
                matched.append(SentRule(id: RuleID(app: appIndex, index: rule)))
            }
        }
        if matched.count > start + 1 { matched[start...].sort { $0.id.index < $1.id.index } }
    }

    /// Whether a check meets all conditions of a rule of an app that is not paused; that of the rollout is none where the
    /// person asked for the check.
    ///
    /// ``Evaluator`` asks for one condition after the other, in the order that people are told; here those come first that
    /// cost least.
    @inline(__always)
    func isMet(
        _ index: Int,
        by client: borrowing Client,
        _ facts: CheckFacts,
        _ app: CompiledApp?,
        _ offers: inout Offers?
    ) -> Bool {
        let rule = rules[index]
        guard holds(rule.versions, facts.versionRank), rule.startsAt <= facts.time, facts.time < rule.endsAt,
            isFor(rule, platform: facts.platform), holds(rule.builds, facts.buildRank),
            holds(rule.os, facts.osRank), isFor(rule, region: facts.region),
            holds(rule.languages, facts.languageRank), rule.flags.contains(.enabled),
            rule.attributes.isEmpty || firstUnmetAttribute(rule, facts) == nil
        else { return false }
        if rule.flags.contains(.hasTarget) {
            guard facts.versionRank < rule.targetRank,
                isTargetOffered(rule, client, facts.platform, app, at: facts.time, &offers)
            else { return false }
        }
        return isInRollout(index, client, at: facts.time) || client.isManual
    }

    @inline(__always)
    func isFor(_ rule: CompiledRule, platform: Int32) -> Bool {
        if rule.platforms.isEmpty { return true }
        for index in rule.platforms.indices where pools.platforms[index] == platform { return true }
        return false
    }

    @inline(__always)
    func isFor(_ rule: CompiledRule, region: UInt16) -> Bool {
        rule.regions.isEmpty || pools.regions.holds(region, in: rule.regions.indices)
    }

    /// Whether a rank is in one of some intervals; any is, where there are none.
    @inline(__always)
    func holds(_ intervals: PoolRange, _ rank: UInt32) -> Bool {
        if intervals.isEmpty { return true }
        if intervals.isLong { return holdsInMany(intervals, rank) }
        for index in intervals.indices where pools.intervals[index].contains(rank) { return true }
        return false
    }

    private func holdsInMany(_ intervals: PoolRange, _ rank: UInt32) -> Bool {
        let next = intervals.indices.partitioningIndex { rank < pools.intervals[$0].lower }
        return next > intervals.indices.lowerBound && pools.intervals[next - 1].contains(rank)
    }

    /// The index of the first attribute, by name, that the client does not have as the rule asks.
    func firstUnmetAttribute(_ rule: CompiledRule, _ facts: CheckFacts) -> Int? {
        for index in rule.attributes.indices {
            if !accepts(pools.attributes[index], facts) { return index }
        }
        return nil
    }

    /// How sure it is that clients meet what a rule asks of attributes, where those that are not known may be anything.
    func verdict(ofAttributes rule: CompiledRule, _ facts: CheckFacts) -> Verdict {
        rule.attributes.indices.map { index in
            let attribute = pools.attributes[index]
            let name = Int(attribute.name) % scales.attributeNames.count
            let isKnown = facts.values[name] != AttributeValues.notSent
            return isKnown ? Verdict(accepts(attribute, facts)) : .unknown
        }.min() ?? .met
    }

    @inline(__always)
    private func accepts(_ attribute: CompiledAttribute, _ facts: CheckFacts) -> Bool {
        let value = facts.values[Int(attribute.name)]
        if attribute.onlyValue < CompiledAttribute.several { return attribute.onlyValue == value }
        switch attribute.onlyValue {
        case CompiledAttribute.several: return isListed(value, in: attribute.values.indices)
        case CompiledAttribute.not:
            return value == AttributeValues.notSent || !isListed(value, in: attribute.values.indices)
        case CompiledAttribute.interval: return attribute.interval.contains(value)
        default: return holds(attribute.values, value)
        }
    }

    @inline(__always)
    private func isListed(_ value: UInt32, in values: Range<Int>) -> Bool {
        let found = values.partitioningIndex { pools.values[$0] >= value }
        return found < values.upperBound && pools.values[found] == value
    }

    private func isTargetOffered(
        _ rule: CompiledRule,
        _ client: borrowing Client,
        _ platform: Int32,
        _ app: CompiledApp?,
        at time: Int64,
        _ offers: inout Offers?
    ) -> Bool {
        if offers == nil { offers = Offers(app?.releases(on: platform), ReleaseAsker(client), at: time, .pass) }
        guard let offer = offers?.least(soak: rule.soak) else { return false }
        return !(offer.version < pools.targets[Int(rule.target)])
    }

    /// The rollout of a rule that is in force at a time, in hundredths of a percent.
    func rollout(of rule: CompiledRule, at time: Int64) -> UInt16 {
        if rule.steps.isEmpty { return rule.rollout }
        let next = rule.steps.indices.partitioningIndex { time < pools.steps[$0].at }
        return next > rule.steps.indices.lowerBound ? pools.steps[next - 1].rollout : rule.rollout
    }

    func isInRollout(_ index: Int, _ client: borrowing Client, at time: Int64) -> Bool {
        let rollout = rollout(of: rules[index], at: time)
        if rollout >= 10_000 { return true }
        if rollout == 0 { return false }
        return client.withText(.install) { Bucket(key: rows[index].key, install: $0).number < Int(rollout) } ?? false
    }

    func isLockedOut(by index: Int, _ client: borrowing Client, _ waysOut: inout Offers) -> Bool {
        let rule = rules[index]
        return !rule.flags.contains(.needsWayOut)
            || wayOut(of: rule, client, by: waysOut.least(soak: rule.soak)) == .open
    }

    /// Whether a client that a rule locks out could leave the lockout by an update to what it is offered.
    func wayOut(of rule: CompiledRule, _ client: borrowing Client, by offer: JudgedRelease?) -> WayOut {
        guard let offer else { return .noOffer }
        guard offer.isAbove(client.versionKey, build: client.buildKey) else { return .notAbove }
        return matches(rule, offer) ? .matches : .open
    }

    /// Whether a rule that a client meets would also be met with a release in place of what the client has.
    func matches(_ rule: CompiledRule, _ release: JudgedRelease) -> Bool {
        reaches(rule, release.version)
            && (release.build.map { rule.builds.isEmpty || holds(rule.builds, scales.builds.rank(of: $0)) } ?? true)
    }

    /// Whether a version is in the range of a rule and below its target.
    func reaches(_ rule: CompiledRule, _ version: VersionKey) -> Bool {
        let rank = scales.versions.rank(of: version)
        return holds(rule.versions, rank) && rank < rule.targetRank
    }
}

/// What a check compares rules with: the client in the terms of one group of rules, and the time.
struct CheckFacts {
    let time: Int64
    /// The number of the client's platform; -1 where it sent none, or none that the policy knows.
    let platform: Int32
    /// The letters of the client's region; 0 for none.
    let region: UInt16
    let versionRank: UInt32
    let buildRank: UInt32
    let osRank: UInt32
    let languageRank: UInt32
    private(set) var values = AttributeValues()
    /// What keeps the client from rules.
    private(set) var traits: UInt64

    init(_ client: borrowing Client, platform: Int32, time: Int64, on scales: RuleScales) {
        self.time = time
        self.platform = platform
        region = client.region?.letters ?? 0
        versionRank = client.versionKey.map { scales.versions.rank(of: $0) } ?? RankInterval.unreadable
        buildRank = client.buildKey.map { scales.builds.rank(of: $0) } ?? RankInterval.unreadable
        osRank = client.osKey.map { scales.os.rank(of: $0) } ?? RankInterval.unreadable
        languageRank = client.language.map { scales.languages.rank(of: $0) } ?? RankInterval.unreadable
        traits = platform < 0 ? ClientTraits.everyPlatform : ClientTraits.platform(platform)
        traits |= region == 0 ? ClientTraits.everyRegion : ClientTraits.region(region)
        traits |= languageRank == RankInterval.unreadable ? ClientTraits.noLanguage : 0
        traits |= ClientTraits.everyAttribute
        if scales.attributeNames.count > 0 {
            client.forEachAttribute { name, value in
                guard let name = scales.attributeNames.index(of: name) else { return }
                // One that no rule accepts is none of the scale.
                let index = scales.attributeValues.index(of: value) ?? scales.attributeValues.count
                values.set(UInt32(truncatingIfNeeded: index), for: name, of: scales.attributeCount)
                traits &= ~ClientTraits.lacksAttribute(name)
            }
            if !scales.isAttributeVersion.isEmpty { readAttributeVersions(client, scales) }
        }
    }

    /// Reads as versions the attributes of which rules have ranges.
    @inline(never)
    private mutating func readAttributeVersions(_ client: borrowing Client, _ scales: RuleScales) {
        client.forEachAttribute { name, value in
            guard let name = scales.attributeNames.index(of: name), scales.isAttributeVersion[name] else { return }
            let rank = VersionScanner.key(of: value).map { scales.attributeVersions.rank(of: $0) }
            let place = name + scales.attributeNames.count
            values.set(rank ?? RankInterval.unreadable, for: place, of: scales.attributeCount)
            traits &= ~ClientTraits.lacksAttribute(place)
        }
    }
}

/// For each attribute that rules ask for, by the index of its name, the index of the value that was sent, and behind these
/// the ranks of those that are read as versions; the first need no memory of their own.
struct AttributeValues {
    static let notSent: UInt32 = .max
    private var first = InlineArray<16, UInt32>(repeating: Self.notSent)
    private var others: [UInt32] = []

    @inline(__always)
    subscript(name: Int) -> UInt32 {
        if name < first.count { return first[name] }
        return others.isEmpty ? Self.notSent : others[name &- first.count]
    }

    mutating func set(_ value: UInt32, for name: Int, of count: Int) {
        if name < first.count {
            first[name] = value
        } else {
            if others.isEmpty { others = [UInt32](repeating: Self.notSent, count: count - first.count) }
            others[name - first.count] = value
        }
    }
}

enum WayOut {
    case open
    case noOffer
    case notAbove
    case matches
}
