/// How sure it is that something holds of a client of which not everything is known.
enum Verdict: Comparable {
    case unmet
    case unknown
    case met

    init(_ isCertain: Bool) { self = isCertain ? .met : .unmet }
}

struct PartialClient {
    let client: Client
    let system: ClientSystem
    /// Whether a member that it did not send may be anything. Else only what is not counted may.
    private let mayOmit: Bool

    /// The client of a question: what it does not say may be anything.
    ///
    /// - Parameter systemFamily: The numbers that the version of the operating system begins with, where they are known.
    init(asking client: Client, systemFamily: String?) {
        self.init(asking: client, ClientSystem(client, family: systemFamily))
    }

    init(asking client: Client, _ system: ClientSystem) {
        (self.client, self.system, mayOmit) = (client, system, true)
    }

    /// A client as checks are counted: what is not counted may be anything.
    init(counted client: Client) {
        (self.client, system, mayOmit) = (client, .exactly(client.osKey), false)
    }

    fileprivate func isUnknown(_ condition: Condition) -> Bool {
        guard mayOmit else { return Condition.uncounted.contains(condition) }
        return condition == .attributes || condition.field.map { !client.has($0) } ?? false
    }
}

extension RuleGroup {
    func verdict(_ conditions: [Condition], of index: Int, _ asker: PartialClient, _ facts: CheckFacts) -> Verdict {
        var verdict = Verdict.met
        for condition in conditions {
            verdict = min(verdict, self.verdict(condition, of: index, asker, facts))
            if verdict == .unmet { break }
        }
        return verdict
    }

    private func verdict(
        _ condition: Condition,
        of index: Int,
        _ asker: PartialClient,
        _ facts: CheckFacts
    ) -> Verdict {
        let rule = rules[index]
        switch condition {
        case .os where !rule.os.isEmpty: return asker.system.verdict(in: intervals(rule.os, on: scales.os))
        case _ where meets(condition, rule, index, asker.client, facts): return .met
        case .rollout where rollout(of: rule, at: facts.time) == 0: return .unmet
        case .attributes where hasOtherAttribute(rule, asker.client): return .unmet
        default: return asker.isUnknown(condition) ? .unknown : .unmet
        }
    }

    /// Whether a client sent an attribute that the rule asks for, with a value that it does not accept.
    private func hasOtherAttribute(_ rule: CompiledRule, _ client: Client) -> Bool {
        pools.attributes[rule.attributes.indices].contains { attribute in
            client.attribute(attribute.name).map { !attribute.values.contains($0) } ?? false
        }
    }

    /// The versions in the range of a rule and below its target, sorted; `nil` where it has neither.
    func versions(of index: Int) -> [VersionInterval]? {
        let rule = rules[index]
        let hasTarget = rule.flags.contains(.hasTarget)
        guard hasTarget || !rule.versions.isEmpty else { return nil }
        let range = rule.versions.isEmpty ? [.all] : intervals(rule.versions, on: scales.versions)
        return hasTarget ? range.below(pools.targets[Int(rule.target)]) : range
    }

    private func intervals(_ run: PoolRange, on scale: VersionScale) -> [VersionInterval] {
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
