/// How sure it is that something holds of clients of whom not everything is known.
enum Verdict: Comparable {
    case unmet
    case unknown
    case met

    init(_ isCertain: Bool) { self = isCertain ? .met : .unmet }
}

/// The clients of a question.
struct Asker {
    /// What is known of all of them.
    let client: Client
    /// The conditions of which it is not known whether they are met, where what is known does not meet them.
    let unknown: Set<Condition>
    let system: ClientSystem
}

extension Asker {
    /// The one client of a check.
    init(_ client: Client) {
        self.init(client: client, unknown: [], system: .exactly(client.osKey))
    }

    /// Clients as checks are counted: what is not counted may be anything.
    init(counted client: Client) {
        self.init(client: client, unknown: Condition.uncounted, system: .exactly(client.osKey))
    }

    /// The clients of whom some members are known: what these do not say may be anything.
    init(_ client: Client, _ system: ClientSystem) {
        let isUnknown = { (condition: Condition) in
            condition == .attributes || condition.field.map { !client.has($0) } ?? false
        }
        self.init(client: client, unknown: Set(Condition.allCases.filter(isUnknown)), system: system)
    }
}

/// A rule of a compiled policy, and the group that it is in.
struct RuleReference {
    let id: RuleID
    let group: RuleGroup

    var index: Int { Int(id.index) }
    var rule: CompiledRule { group.rules[index] }
    var row: Rule { group.rows[index] }
    var flags: CompiledRule.Flags { group.rules[index].flags }

    /// The versions in its range and below its target, sorted; `nil` where it has neither.
    var versions: [VersionInterval]? {
        let hasTarget = flags.contains(.hasTarget)
        guard hasTarget || !rule.versions.isEmpty else { return nil }
        let range = rule.versions.isEmpty ? [.all] : group.intervals(rule.versions, on: group.scales.versions)
        return hasTarget ? range.below(group.pools.targets[Int(rule.target)]) : range
    }
}

extension CompiledPolicy {
    /// The rules of an app and those for every app, enabled or not, in the order of messages.
    func rules(of app: CompiledApp?) -> [RuleReference] {
        func rules(_ group: RuleGroup?, _ app: Int32) -> [RuleReference] {
            guard let group else { return [] }
            return group.rows.indices.map { index in
                RuleReference(id: RuleID(app: app, index: UInt32(truncatingIfNeeded: index)), group: group)
            }
        }
        let own = app.map { rules($0.rules, Int32(truncatingIfNeeded: $0.index)) } ?? []
        return merged(own[...], rules(rulesForEveryApp, -1)[...]) { Rule.precedes($0.row, $1.row) }
    }
}

/// Asks the clients of a question, at one time, for one condition of a rule after the other.
///
/// Explanations, announcements and impacts stand on it; a check has ``RuleGroup/isMet(_:by:_:_:_:)``.
struct Evaluator {
    let app: CompiledApp?
    let asker: Asker
    let time: Int64
    let platform: Int32
    /// What is offered as targets ask for it, and as ways out do.
    var targets: Offers
    var waysOut: Offers
    private let facts: CheckFacts?
    private let factsForEveryApp: CheckFacts?

    init(_ policy: CompiledPolicy, _ app: CompiledApp?, _ asker: Asker, at time: Timestamp) {
        let (time, platform) = (time.microsecondsSince1970, policy.platformNumbers.number(of: asker.client))
        (self.app, self.asker, self.time, self.platform) = (app, asker, time, platform)
        let list = app?.releases(on: platform)
        targets = Offers(list, ReleaseAsker(asker), at: time, .pass)
        waysOut = Offers(list, ReleaseAsker(asker), at: time, .fail)
        func facts(_ group: RuleGroup?) -> CheckFacts? {
            group.map { CheckFacts(asker.client, platform: platform, time: time, on: $0.scales) }
        }
        self.facts = facts(app?.rules)
        factsForEveryApp = facts(policy.rulesForEveryApp)
    }

    func facts(for reference: RuleReference) -> CheckFacts? { reference.id.app < 0 ? factsForEveryApp : facts }

    /// How sure it is that a rule's conditions are met, all of them.
    mutating func verdict(_ conditions: [Condition], of reference: RuleReference) -> Verdict {
        var verdict = Verdict.met
        for condition in conditions where verdict > .unmet {
            verdict = min(verdict, self.verdict(condition, of: reference))
        }
        return verdict
    }

    mutating func verdict(_ condition: Condition, of reference: RuleReference) -> Verdict {
        guard let facts = facts(for: reference) else { return .unmet }
        let (group, rule) = (reference.group, reference.rule)
        let isMet: Bool
        switch condition {
        case .platforms: isMet = group.isFor(rule, platform: platform)
        case .versions: isMet = group.holds(rule.versions, facts.versionRank)
        case .builds: isMet = group.holds(rule.builds, facts.buildRank)
        case .os:
            return rule.os.isEmpty ? .met : asker.system.verdict(in: group.intervals(rule.os, on: group.scales.os))
        case .regions: isMet = group.isFor(rule, region: facts.region)
        case .languages: isMet = group.holds(rule.languages, facts.languageRank)
        case .attributes:
            if asker.unknown.contains(condition) { return group.verdict(ofAttributes: rule, facts) }
            isMet = group.firstUnmetAttribute(rule, facts) == nil
        case .target:
            if facts.versionRank < rule.targetRank || !rule.flags.contains(.hasTarget) { return offered(reference) }
            isMet = false
        case .startsAt: isMet = rule.startsAt <= time
        case .endsAt: isMet = time < rule.endsAt
        case .rollout:
            if group.rollout(of: rule, at: time) == 0 { return .unmet }
            isMet = group.isInRollout(reference.index, asker.client, at: time)
        case .enabled: isMet = rule.flags.contains(.enabled)
        case .paused: isMet = app.map { !$0.isPaused } ?? true
        }
        return isMet ? .met : asker.unknown.contains(condition) ? .unknown : .unmet
    }

    /// Whether clients are offered the target of a rule; they are, where it has none.
    mutating func offered(_ reference: RuleReference) -> Verdict {
        guard reference.flags.contains(.hasTarget) else { return .met }
        // On a platform that was not sent there may be any release.
        if asker.unknown.contains(.platforms) { return .unknown }
        let target = reference.group.pools.targets[Int(reference.rule.target)]
        let offers = targets.all(soak: reference.rule.soak)
        if offers.isCertain, let least = offers.releases.last, !(least.version < target) { return .met }
        return offers.releases.first.map { $0.version < target } ?? true ? .unmet : .unknown
    }

    /// Whether the clients that a rule locks out could leave the lockout by an update, and to which release.
    mutating func wayOut(of reference: RuleReference) -> (WayOut, offer: JudgedRelease?) {
        let offers = waysOut.all(soak: reference.rule.soak)
        guard offers.isCertain else { return (.noOffer, nil) }
        // What they have may be as new.
        if asker.unknown.contains(.versions) { return (.notAbove, offers.releases.last) }
        for offer in offers.releases {
            let wayOut = reference.group.wayOut(of: reference.rule, asker.client, by: offer)
            if wayOut != .open { return (wayOut, offer) }
        }
        return (.open, offers.releases.last)
    }

    mutating func isLockedOut(by reference: RuleReference) -> Bool {
        reference.flags.contains(.lockout)
            && (!reference.flags.contains(.needsWayOut) || wayOut(of: reference).0 == .open)
    }
}

extension RuleGroup {
    func intervals(_ run: PoolRange, on scale: VersionScale) -> [VersionInterval] {
        pools.intervals[run.indices].map { scale.versions(of: $0) }
    }
}

enum ClientSystem {
    /// The one that was sent; `nil` where it cannot be read.
    case exactly(VersionKey?)
    /// One that can be read and is in the interval.
    case within(VersionInterval)
    /// Any, or one that cannot be read.
    case any

    init(_ client: Client, family: String?) {
        if client.has(.os) {
            self = .exactly(client.osKey)
        } else if let interval = family.flatMap({ VersionRange("~\($0)") })?.intervals.first {
            self = .within(interval)
        } else {
            self = .any
        }
    }

    /// Those of the systems that are this version or a later one; `nil` where there are none.
    func narrowed(to least: VersionKey) -> ClientSystem? {
        var interval = VersionInterval(lower: least, upper: .maximum)
        switch self {
        case .exactly(let key): return key.flatMap { interval.contains($0) ? self : nil }
        case .within(let system): interval.formIntersection(system)
        case .any: break
        }
        return interval.isEmpty ? nil : .within(interval)
    }

    func verdict(in intervals: [VersionInterval]) -> Verdict {
        switch self {
        case .exactly(let key): return Verdict(key.map { key in intervals.contains { $0.contains(key) } } ?? false)
        case .any: return .unknown
        case .within(let system):
            if intervals.contains(where: { !(system.lower < $0.lower) && !($0.upper < system.upper) }) {
                return .met
            }
            return intervals.contains { $0.overlaps(system) } ? .unknown : .unmet
        }
    }
}
